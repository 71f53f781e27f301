//! Ways on which a restricted crate may and may not come in.

use super::*;
use crate::tidy::synthetic::{Synthetic, graph};

const DOCUMENT: &str = "| crate | may depend on |\n|---|---|\n\
    | [`tiphys-testkit`](crates/tiphys-testkit) | any |\n\n\
    | third-party crates | only in |\n|---|---|\n\
    | `tonic`, `h2` | `tiphys-cmp` |\n\
    | `gix*` | none |\n";

fn findings(packages: &[(&str, &[&str])]) -> Vec<String> {
    Synthetic::new(&[("ARCHITECTURE.md", DOCUMENT)]).with_graph(graph(packages)).findings(&CHECK)
}

#[test]
fn a_crate_that_may_have_it_and_its_dependents_hold() {
    assert!(
        findings(&[("tiphys-cmp", &["tonic"]), ("tiphys-render", &["tiphys-cmp"]), ("tonic", &["h2"])])
            .is_empty()
    );
}

#[test]
fn a_direct_dependency_is_found() {
    assert_eq!(
        findings(&[("tiphys-yaml", &["tonic"]), ("tonic", &[])]),
        ["tiphys-yaml: brings in tonic (tiphys-yaml -> tonic)"]
    );
}

#[test]
fn a_way_through_other_libraries_is_found_and_shown() {
    assert_eq!(
        findings(&[
            ("tiphys-render", &["tiphys-cmp", "wire"]),
            ("tiphys-cmp", &["tonic"]),
            ("wire", &["h2"]),
            ("h2", &[]),
            ("tonic", &[])
        ]),
        ["tiphys-render: brings in h2 (tiphys-render -> wire -> h2)"]
    );
}

#[test]
fn a_pattern_covers_all_names_that_begin_so_and_none_means_nobody() {
    assert_eq!(
        findings(&[("tiphys-cmp", &["gix-odb"]), ("gix-odb", &[])]),
        ["tiphys-cmp: brings in gix-odb (tiphys-cmp -> gix-odb)"]
    );
}

#[test]
fn a_build_dependency_counts_and_one_of_tests_does_not() {
    assert_eq!(findings(&[("tiphys-yaml", &["build:tonic"]), ("tonic", &[])]).len(), 1);
    assert!(findings(&[("tiphys-yaml", &["test:tonic"]), ("tonic", &[])]).is_empty());
}

#[test]
fn crates_for_tests_and_xtask_are_free() {
    assert!(findings(&[("tiphys-testkit", &["tonic"]), ("xtask", &["tonic"]), ("tonic", &[])]).is_empty());
}
