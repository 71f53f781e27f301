//! Dependencies that occur in the sources, and one that does not.

use super::*;
use crate::tidy::synthetic::{Synthetic, graph};

fn findings(source: &str) -> Vec<String> {
    let manifest =
        "[dependencies]\nserde.workspace = true\n[dev-dependencies]\nlibyaml-safer.workspace = true\n";
    Synthetic::new(&[("crates/tiphys-yaml/Cargo.toml", manifest), ("crates/tiphys-yaml/src/lib.rs", source)])
        .with_graph(graph(&[("tiphys-yaml", &[])]))
        .findings(&CHECK)
}

#[test]
fn names_in_paths_and_attributes_count() {
    assert!(findings("#[derive(serde::Serialize)] struct S; fn f() { libyaml_safer::g(); }").is_empty());
}

#[test]
fn names_in_comments_and_texts_do_not_count() {
    assert_eq!(
        findings("// serde\nuse libyaml_safer as _; const X: &str = \"serde\";"),
        ["crates/tiphys-yaml/Cargo.toml:2: serde occurs nowhere in the crate's sources"]
    );
}
