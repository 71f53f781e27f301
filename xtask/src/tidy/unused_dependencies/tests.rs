//! Dependencies that occur in the sources, and one that does not.

use super::*;
use crate::tidy::synthetic::{Synthetic, graph};

fn findings(source: &str) -> Vec<String> {
    let manifest =
        "[dependencies]\nserde.workspace = true\n[dev-dependencies]\nsome-parser.workspace = true\n";
    Synthetic::new(&[("crates/tiphys-yaml/Cargo.toml", manifest), ("crates/tiphys-yaml/src/lib.rs", source)])
        .with_graph(graph(&[("tiphys-yaml", &[])]))
        .findings(&CHECK)
}

#[test]
fn names_in_paths_and_attributes_count() {
    assert!(findings("#[derive(serde::Serialize)] struct S; fn f() { some_parser::g(); }").is_empty());
}

#[test]
fn a_dependency_of_the_program_that_only_tests_use_is_found() {
    let manifest = "[dependencies]\nserde.workspace = true\n[dev-dependencies]\ntempfile.workspace = true\n";
    let found = Synthetic::new(&[
        ("crates/tiphys-yaml/Cargo.toml", manifest),
        ("crates/tiphys-yaml/src/lib.rs", "mod tests;"),
        ("crates/tiphys-yaml/src/tests.rs", "use serde::x; use tempfile::y;"),
    ])
    .with_graph(graph(&[("tiphys-yaml", &[])]))
    .findings(&CHECK);
    assert_eq!(found, ["crates/tiphys-yaml/Cargo.toml:2: serde occurs in the crate's tests alone"]);
}

#[test]
fn names_in_comments_and_texts_do_not_count() {
    assert_eq!(
        findings("// serde\nuse some_parser as _; const X: &str = \"serde\";"),
        ["crates/tiphys-yaml/Cargo.toml:2: serde occurs nowhere in the crate's sources"]
    );
}
