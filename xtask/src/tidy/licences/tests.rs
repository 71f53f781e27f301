//! Accepted, refused and missing licences.

use super::*;
use crate::tidy::synthetic::{graph, texts};

fn findings(name: &str, licence: Option<&str>, read_by_us: &[(&str, &str)]) -> Vec<String> {
    let mut graph = graph(&[(name, &[])]);
    graph.packages[0].licence = licence.map(str::to_owned);
    texts(judge(&graph, read_by_us))
}

#[test]
fn expressions_are_accepted_by_their_parts() {
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0 OR MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("(MIT OR GPL-3.0) AND LGPL-3.0", false),
        ("GPL-3.0 OR LGPL-3.0 AND MIT", false),
        ("MIT/Apache-2.0", true),
        ("GPL-2.0 / MIT", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("MIT WITH LLVM-exception", false),
        ("", false),
    ] {
        assert_eq!(is_accepted(expression), expected, "{expression:?}");
    }
}

#[test]
fn missing_and_unaccepted_licences_are_reported() {
    let refused = "tar 1.0.0: has the licence GPL-3.0, which is not accepted";
    assert_eq!(findings("tar", Some("GPL-3.0"), &[]), [refused]);
    assert_eq!(findings("tar", None, &[]), ["tar 1.0.0: names no licence"]);
    assert_eq!(findings("tar", None, &[("tar", "GPL-3.0")]), [refused]);
    assert!(findings("tar", None, &[("tar", "MIT")]).is_empty());
    assert!(findings("tiphys-yaml", None, &[]).is_empty());
}

#[test]
fn unneeded_entry_of_read_is_reported() {
    let expected = ["tar: needs no reading of its licence file any more"];
    for name in ["tar", "other"] {
        assert_eq!(findings(name, Some("MIT"), &[("tar", "MIT")]), expected);
    }
}
