//! Allowed and forbidden edges between crates of the workspace.

use super::*;
use crate::tidy::synthetic::{Synthetic, graph};

const MAP: &str = "| crate | may depend on |\n|---|---|\n\
    | [`tiphys-yaml`](crates/tiphys-yaml) | - |\n\
    | [`tiphys-params`](crates/tiphys-params) | `tiphys-yaml` |\n\
    | [`tiphys-testkit`](crates/tiphys-testkit) | any |\n";

fn findings(packages: &[(&str, &[&str])]) -> Vec<String> {
    Synthetic::new(&[("ARCHITECTURE.md", MAP)]).with_graph(graph(packages)).findings(&CHECK)
}

#[test]
fn an_allowed_edge_holds() {
    assert!(findings(&[("tiphys-yaml", &[]), ("tiphys-params", &["tiphys-yaml"])]).is_empty());
}

#[test]
fn an_edge_that_the_row_does_not_name_is_found() {
    assert_eq!(
        findings(&[("tiphys-yaml", &["tiphys-params"]), ("tiphys-params", &["tiphys-yaml"])]),
        ["tiphys-yaml: depends on tiphys-params, which ARCHITECTURE.md:3 does not allow"]
    );
}

#[test]
fn a_build_dependency_counts() {
    let found = findings(&[("tiphys-yaml", &["build:tiphys-params"]), ("tiphys-params", &["tiphys-yaml"])]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_permission_that_is_not_used_is_found() {
    assert_eq!(
        findings(&[("tiphys-yaml", &[]), ("tiphys-params", &["test:tiphys-yaml"])]),
        ["tiphys-params: does not depend on tiphys-yaml, which ARCHITECTURE.md:4 allows"]
    );
}

#[test]
fn a_dependency_of_tests_is_free() {
    let found = findings(&[("tiphys-yaml", &["test:tiphys-params"]), ("tiphys-params", &["tiphys-yaml"])]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_row_that_says_any_is_free() {
    assert!(findings(&[("tiphys-testkit", &["tiphys-yaml"]), ("tiphys-yaml", &[])]).is_empty());
}

#[test]
fn a_document_without_the_table_is_a_failure() {
    let tree = Synthetic::new(&[("ARCHITECTURE.md", "# nothing\n")]);
    let failure = (CHECK.run)(&tree.subject()).unwrap_err().to_string();
    assert_eq!(failure, "ARCHITECTURE.md: has no table with the columns crate, may depend on");
}
