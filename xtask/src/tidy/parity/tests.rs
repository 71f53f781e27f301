//! Documents with complete, missing and duplicate rows, and tests with and without a place.

use std::fmt::Write as _;

use super::*;
use crate::tidy::synthetic::Synthetic;

const HEAD: &str = "| row | behaviour | test |\n|---|---|---|\n";

/// A document with rows of these numbers, followed by these lines.
fn document(numbers: &[usize], more: &str) -> String {
    let mut text = HEAD.to_owned();
    for number in numbers {
        writeln!(text, "| {number} | it renders | `it_renders` |").unwrap();
    }
    text + more
}

fn findings(document: &str, source: &str) -> Vec<String> {
    Synthetic::new(&[(DOCUMENT, document), ("plugins/helm/tests/generate/a.rs", source)]).findings(&CHECK)
}

fn all() -> Vec<usize> {
    (1..=ROWS).collect()
}

#[test]
fn ordered_rows_and_named_tests_have_no_findings() {
    let source = "fn helper() {}\n#[test]\nfn it_renders() {}\n#[test]\nfn it_is_quick() {}\n";
    let more = "\nIt is quick, too (`it_is_quick`).\n";
    assert_eq!(findings(&document(&all(), more), source), Vec::<String>::new());
    let of_two_tables = document(&all()[..50], &format!("\n{}", document(&all()[50..], more)));
    assert_eq!(findings(&of_two_tables, source), Vec::<String>::new());
}

#[test]
fn missing_duplicate_and_additional_rows_are_found() {
    let mut gap = all();
    gap.remove(6);
    assert_eq!(findings(&document(&gap, ""), ""), ["plugins/helm/PARITY.md:9: is row 8, expected row 7"]);
    let mut twice = all();
    twice.insert(1, 1);
    assert_eq!(findings(&document(&twice, ""), ""), ["plugins/helm/PARITY.md:4: is row 1, expected row 2"]);
    let short: Vec<usize> = (1..ROWS).collect();
    assert_eq!(
        findings(&document(&short, ""), ""),
        ["plugins/helm/PARITY.md: ends with row 115, and the list has 116"]
    );
    let long: Vec<usize> = (1..=ROWS + 1).collect();
    assert_eq!(
        findings(&document(&long, ""), ""),
        ["plugins/helm/PARITY.md: ends with row 117, and the list has 116"]
    );
    let unnumbered = document(&all(), "| x | it renders | `it_renders` |\n");
    assert_eq!(findings(&unnumbered, ""), ["plugins/helm/PARITY.md:119: has no number"]);
}

#[test]
fn test_without_a_place_is_found() {
    let source = "#[test]\nfn it_renders() {}\n#[test]\nfn it_is_forgotten() {}\n";
    let expected = "plugins/helm/tests/generate/a.rs: has the test it_is_forgotten, which plugins/helm/PARITY.md does not name";
    assert_eq!(findings(&document(&all(), "it_is_forgotten without backticks\n"), source), [expected]);
}

#[test]
fn missing_document_is_found() {
    let found = Synthetic::new(&[("README.md", "")]).findings(&CHECK);
    assert_eq!(found, ["plugins/helm/PARITY.md: ends with row 0, and the list has 116"]);
}
