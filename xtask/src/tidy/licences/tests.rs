//! Accepted, refused, missing and malformed licences.

use super::*;
use crate::tidy::synthetic::{graph, texts};

fn findings(name: &str, licence: Option<&str>) -> Vec<String> {
    findings_with(name, licence, &[])
}

fn findings_with(name: &str, licence: Option<&str>, read_by_us: &[(&str, &str)]) -> Vec<String> {
    let mut graph = graph(&[(name, &[])]);
    graph.packages[0].licence = licence.map(str::to_owned);
    texts(judge(&graph, read_by_us))
}

#[test]
fn an_accepted_licence_holds() {
    assert!(findings("tar", Some("MIT OR GPL-3.0")).is_empty());
}

#[test]
fn a_licence_that_asks_for_more_than_a_notice_is_found() {
    for licence in ["GPL-3.0", "MPL-2.0", "MIT AND LGPL-2.1"] {
        assert_eq!(
            findings("tar", Some(licence)),
            [format!("tar 1.0.0: has the licence {licence}, which is not accepted")]
        );
    }
}

#[test]
fn a_crate_without_a_licence_is_found() {
    assert_eq!(findings("tar", None), ["tar 1.0.0: names no licence"]);
}

#[test]
fn a_crate_whose_licence_file_was_read_is_judged_by_what_was_found() {
    assert!(findings_with("tar", None, &[("tar", "MIT")]).is_empty());
    assert_eq!(
        findings_with("tar", None, &[("tar", "GPL-3.0")]),
        ["tar 1.0.0: has the licence GPL-3.0, which is not accepted"]
    );
}

#[test]
fn a_reading_that_is_no_longer_needed_is_found() {
    for (name, licence) in [("tar", Some("MIT")), ("other", Some("MIT"))] {
        assert_eq!(
            findings_with(name, licence, &[("tar", "MIT")]),
            ["tar: needs no reading of its licence file any more"]
        );
    }
}

#[test]
fn a_malformed_expression_is_found() {
    assert_eq!(
        findings("tar", Some("MIT OR")),
        ["tar 1.0.0: has a licence expression that cannot be read: MIT OR"]
    );
}

#[test]
fn our_own_crates_are_not_asked() {
    assert!(findings("tiphys-yaml", None).is_empty());
}
