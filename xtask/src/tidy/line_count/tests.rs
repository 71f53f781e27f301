//! Files at the limit and above it.

use super::*;
use crate::tidy::synthetic::Synthetic;

fn findings(path: &str, lines: usize) -> Vec<String> {
    Synthetic::new(&[(path, "//\n".repeat(lines).as_str())]).findings(&CHECK)
}

#[test]
fn source_file_may_have_800_lines() {
    assert!(findings("crates/a/src/b.rs", 800).is_empty());
    assert_eq!(findings("crates/a/src/b.rs", 801), ["crates/a/src/b.rs: has 801 lines, more than 800"]);
}

#[test]
fn document_has_the_same_limit() {
    assert_eq!(findings("docs/a.md", 801).len(), 1);
}

#[test]
fn file_of_tests_may_have_1500_lines() {
    for path in ["crates/a/src/b/tests.rs", "crates/a/tests/b.rs", "crates/a/src/b/tests/c.rs"] {
        assert!(findings(path, 1_500).is_empty(), "{path}");
        assert_eq!(findings(path, 1_501), [format!("{path}: has 1501 lines, more than 1500")]);
    }
}

#[test]
fn test_data_and_generated_code_have_no_limit() {
    assert!(findings("testdata/oracles/a.jsonl", 2_000).is_empty());
    assert!(findings("crates/tiphys-cmp/src/generated/plugin.rs", 2_000).is_empty());
}
