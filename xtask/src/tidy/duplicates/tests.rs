//! Libraries in two versions, in the program and beside it.

use super::*;
use crate::tidy::synthetic::{graph, texts};

/// Two versions of `digest`, the second one called `digest2` in the lists.
fn two_versions(packages: &[(&str, &[&str])]) -> Graph {
    let mut graph = graph(packages);
    for package in &mut graph.packages {
        if package.name == "digest2" {
            package.name = "digest".to_owned();
            package.version = "2.0.0".to_owned();
        }
    }
    graph
}

const TWICE: &[(&str, &[&str])] =
    &[("tiphys", &["a", "b"]), ("a", &["digest"]), ("b", &["digest2"]), ("digest", &[]), ("digest2", &[])];

#[test]
fn one_version_holds() {
    let graph = graph(&[("tiphys", &["a", "b"]), ("a", &["digest"]), ("b", &["digest"]), ("digest", &[])]);
    assert!(compare(&graph, &[]).is_empty());
}

#[test]
fn two_versions_are_found_with_those_that_ask_for_them() {
    assert_eq!(
        texts(compare(&two_versions(TWICE), &[])),
        ["digest: is there in 2 versions: 1.0.0 for a; 2.0.0 for b"]
    );
}

#[test]
fn an_exception_holds_and_a_stale_one_is_found() {
    assert!(compare(&two_versions(TWICE), &["digest"]).is_empty());
    let once = graph(&[("tiphys", &["digest"]), ("digest", &[])]);
    assert_eq!(texts(compare(&once, &["digest"])), ["digest: is there once and has an exception"]);
}

#[test]
fn what_only_builds_tests_or_runs_in_the_compiler_is_not_in_the_program() {
    for need in ["build:b", "test:b"] {
        let graph = two_versions(&[
            ("tiphys", &["a", need]),
            ("a", &["digest"]),
            ("b", &["digest2"]),
            ("digest", &[]),
            ("digest2", &[]),
        ]);
        assert!(compare(&graph, &[]).is_empty(), "{need}");
    }
    let mut with_macro = two_versions(TWICE);
    for package in &mut with_macro.packages {
        if package.name == "b" {
            package.origin = Origin::Macros;
        }
    }
    assert!(compare(&with_macro, &[]).is_empty());
}
