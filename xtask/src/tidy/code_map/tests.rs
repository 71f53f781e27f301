//! Crates without rows, rows without crates, wrong names and links.

use super::*;
use crate::tidy::synthetic::{Synthetic, graph};

fn findings(rows: &str, packages: &[(&str, &[&str])]) -> Vec<String> {
    let document = format!("| crate | may depend on |\n|---|---|\n{rows}");
    Synthetic::new(&[("ARCHITECTURE.md", &document)]).with_graph(graph(packages)).findings(&CHECK)
}

const YAML: &str = "| [`tiphys-yaml`](crates/tiphys-yaml) | - |\n";

#[test]
fn one_row_per_crate_holds() {
    assert!(findings(YAML, &[("tiphys-yaml", &[]), ("serde", &[])]).is_empty());
}

#[test]
fn a_crate_without_a_row_is_found() {
    assert_eq!(findings("", &[("tiphys-yaml", &[])]), ["crates/tiphys-yaml: has no row in the code map"]);
}

#[test]
fn a_row_without_a_crate_is_found() {
    assert_eq!(
        findings(YAML, &[]),
        ["ARCHITECTURE.md:3: names tiphys-yaml, which is no crate of the workspace"]
    );
}

#[test]
fn a_crate_with_two_rows_is_found() {
    assert_eq!(
        findings(&YAML.repeat(2), &[("tiphys-yaml", &[])]),
        ["ARCHITECTURE.md:4: names tiphys-yaml again"]
    );
}

#[test]
fn a_link_to_another_folder_is_found() {
    let row = "| [`tiphys-yaml`](crates/yaml) | - |\n";
    assert_eq!(
        findings(row, &[("tiphys-yaml", &[])]),
        ["ARCHITECTURE.md:3: links \"crates/yaml\" for tiphys-yaml, which is in crates/tiphys-yaml"]
    );
}

#[test]
fn a_folder_with_another_name_than_its_crate_is_found() {
    let mut graph = graph(&[("tiphys-yaml", &[])]);
    graph.packages[0].origin = Origin::Member { dir: "crates/yaml".to_owned(), roots: vec![] };
    let document = "| crate | may depend on |\n|---|---|\n| [`tiphys-yaml`](crates/yaml) | - |\n";
    let tree = Synthetic::new(&[("ARCHITECTURE.md", document)]).with_graph(graph);
    assert_eq!(tree.findings(&CHECK), ["crates/yaml: holds the crate tiphys-yaml"]);
}
