//! Lines that name what is there, and lines and files that do not.

use super::*;
use crate::tidy::synthetic::Synthetic;

const CASES: &str = "{\"id\": \"one\", \"output\": 1}\n{\"id\":\"two\"}\n";

fn findings(lines: &str, source: &str) -> Vec<String> {
    Synthetic::new(&[
        ("testdata/oracles/split.jsonl", CASES),
        ("testdata/oracles/decisions.tsv", &format!("# part\tid\tanswer\tdecision\n\n{lines}")),
        ("crates/a/tests/oracle.rs", source),
    ])
    .findings(&CHECK)
}

const USED: &str = "check(\"split.server\", |case| None)";

#[test]
fn lines_that_name_a_case_and_a_part_hold() {
    assert!(findings("split.server\tone\t\trow 1\nsplit.server\ttwo\t\trow 2\n", USED).is_empty());
}

#[test]
fn a_case_that_does_not_exist_is_found() {
    assert_eq!(
        findings("split.server\tthree\t\trow 1\n", USED),
        ["testdata/oracles/decisions.tsv:3: names the case three, which does not exist"]
    );
}

#[test]
fn a_part_that_no_test_checks_is_found() {
    assert_eq!(
        findings("split.client\tone\t\trow 1\n", USED),
        ["testdata/oracles/decisions.tsv:3: names split.client, which no test checks"]
    );
}

#[test]
fn a_part_may_be_put_together() {
    let source = "for field in [\"client\"] { check(&format!(\"split.{field}\"), |case| None) }";
    assert!(findings("split.client\tone\t\trow 1\n", source).is_empty());
    assert_eq!(findings("split.server\tone\t\trow 1\n", source).len(), 1);
}

#[test]
fn a_line_twice_without_a_decision_or_without_columns_is_found() {
    assert_eq!(
        findings("split.server\tone\t\trow 1\nsplit.server\tone\t\t \nsplit.server one\n", USED),
        [
            "testdata/oracles/decisions.tsv:4: decides split.server one again",
            "testdata/oracles/decisions.tsv:4: has no decision",
            "testdata/oracles/decisions.tsv:5: has 1 columns instead of 4",
        ]
    );
}

#[test]
fn recorded_answers_that_no_test_uses_are_found() {
    assert_eq!(findings("", "check(\"other\")"), ["testdata/oracles/split.jsonl: is used by no test"]);
}
