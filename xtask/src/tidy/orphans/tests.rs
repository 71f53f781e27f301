//! Files that are compiled on every way that Rust has, and files that are not.

use super::*;
use crate::tidy::synthetic::{Synthetic, graph};

/// A crate with these files below `src/`; `lib.rs` is its root.
fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let tree = Synthetic::new(&[]);
    for (path, text) in files {
        tree.write(&format!("crates/tiphys-yaml/src/{path}"), text);
    }
    let mut graph = graph(&[("tiphys-yaml", &[])]);
    let roots = vec!["crates/tiphys-yaml/src/lib.rs".to_owned()];
    graph.packages[0].origin = Origin::Member { dir: "crates/tiphys-yaml".to_owned(), roots };
    tree.with_graph(graph).findings(&CHECK)
}

#[test]
fn modules_in_files_and_folders_are_followed() {
    assert!(
        findings(&[
            ("lib.rs", "mod a; mod old;"),
            ("a.rs", "#[cfg(test)] mod tests; mod b { mod c; }"),
            ("a/tests.rs", ""),
            ("a/b/c.rs", ""),
            ("old/mod.rs", "mod d;"),
            ("old/d.rs", ""),
        ])
        .is_empty()
    );
}

#[test]
fn a_file_that_nobody_declares_is_found() {
    assert_eq!(
        findings(&[("lib.rs", "// mod a;\nconst X: &str = \"mod a;\";"), ("a.rs", "")]),
        ["crates/tiphys-yaml/src/a.rs: is compiled by no target"]
    );
}

#[test]
fn a_module_beside_its_parent_instead_of_below_it_is_found() {
    assert_eq!(
        findings(&[("lib.rs", "mod a;"), ("a.rs", "mod b;"), ("b.rs", "")]),
        ["crates/tiphys-yaml/src/b.rs: is compiled by no target"]
    );
}

#[test]
fn path_attributes_are_followed() {
    assert!(
        findings(&[("lib.rs", "#[path = \"x/y.rs\"] mod a;"), ("x/y.rs", "mod z;"), ("x/z.rs", "")])
            .is_empty()
    );
}

#[test]
fn included_files_are_followed() {
    assert!(
        findings(&[("lib.rs", "fn f() { include!(\"../src/table.rs\"); }"), ("table.rs", "")]).is_empty()
    );
}

#[test]
fn files_in_testdata_are_data() {
    assert!(findings(&[("lib.rs", ""), ("testdata/a.rs", "")]).is_empty());
}

#[test]
fn fuzz_targets_are_those_of_their_own_manifest() {
    let manifest = "[[bin]]\nname = \"a\"\npath = \"targets/a.rs\"\n";
    let files =
        [("fuzz/Cargo.toml", manifest), ("fuzz/targets/a.rs", "fuzz!(f);"), ("fuzz/targets/b.rs", "")];
    assert_eq!(Synthetic::new(&files).findings(&CHECK), ["fuzz/targets/b.rs: is compiled by no target"]);
}
