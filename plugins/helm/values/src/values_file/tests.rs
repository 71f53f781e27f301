use tiphys_yaml::LIMITS;

use super::{ValuesFileError, read_values, read_values_documents};
use crate::{HelmVersion, Value};

fn json_in(version: HelmVersion, text: &str) -> String {
    Value::Map(read_values(text.as_bytes(), version).expect("the values are valid")).to_json()
}

fn json(text: &str) -> String {
    json_in(HelmVersion::V4, text)
}

#[test]
fn documents_of_a_file_are_merged_in_order() {
    let cases = [
        ("", "{}"),
        ("null\n", "{}"),
        ("# only a comment\n", "{}"),
        ("a: 1\n---\nb: 2\n", r#"{"a":1,"b":2}"#),
        ("a: {x: 1, k: null}\n---\na: {k: 2, z: null}\n---\nnull\n", r#"{"a":{"k":2,"x":1,"z":null}}"#),
        ("---\n---\na: 1\n", r#"{"a":1}"#),
        ("a: 1\n--- # why\nb: 2\n", r#"{"a":1,"b":2}"#),
        ("a: [1]\n---\na: {b: 1}\n---\na: null", r#"{"a":null}"#),
        ("a: 1\r\n---\r\nb: 2\r\n", r#"{"a":1,"b":2}"#),
        ("\u{feff}a: 1\n", r#"{"a":1}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(json(text), expected, "{text:?}");
    }
}

#[test]
fn content_after_end_marker_or_json_value_is_ignored() {
    assert_eq!(json("a: 1\n...\nb: 2\n"), r#"{"a":1}"#);
    assert_eq!(json("{\"a\":1}{\"b\":2}"), r#"{"a":1}"#);
}

/// The lines before each document, and the line at which ignored content begins.
type Places = &'static [(usize, Option<usize>)];

#[test]
fn ignored_content_of_each_document_has_a_line() {
    let both = [HelmVersion::V3, HelmVersion::V4];
    let cases: [(&str, [Places; 2]); 8] = [
        ("a: 1\n", [&[(0, None)], &[(0, None)]]),
        ("a: 1\n...\n# comment\n\n", [&[(0, None)], &[(0, None)]]),
        ("a: 1\n...\n\nb: 2\n", [&[(0, Some(4))], &[(0, Some(4))]]),
        ("a: 1\n...\n: [\n", [&[(0, Some(3))], &[(0, Some(3))]]),
        ("a: 1\n---\nb: 2\n", [&[(0, Some(2))], &[(0, None), (2, None)]]),
        ("---\na: 1\n---\nb: 2\n...\nc: 3\n", [&[(0, Some(3))], &[(0, None), (3, Some(6))]]),
        ("a: 1\n...\n---\nb: 2\n", [&[(0, Some(3))], &[(0, None), (3, None)]]),
        ("{\"a\":1}\n", [&[(0, None)], &[(0, None)]]),
    ];
    for (text, expected) in cases {
        for (version, expected) in both.into_iter().zip(expected) {
            let documents =
                read_values_documents(text.as_bytes(), version, LIMITS).expect("it has separators");
            let places: Vec<_> = documents
                .map(|document| document.expect("it is YAML"))
                .map(|document| (document.lines_before, document.ignored_from))
                .collect();
            assert_eq!(places, expected, "{text:?} {version:?}");
        }
    }
}

#[test]
fn helm_3_reads_the_first_document() {
    let cases = [
        ("a: 1\n---\nb: 2\n", r#"{"a":1}"#),
        ("a: 1\n--- b: 2\n", r#"{"a":1}"#),
        ("a: 1\n---\n[", r#"{"a":1}"#),
        ("---\na: 1\n---\nb: 2\n", r#"{"a":1}"#),
        ("--- {a: 1}\n", r#"{"a":1}"#),
        ("%YAML 1.1\n---\na: 1\n", r#"{"a":1}"#),
        ("x: |\n  a\n---\n  b\n", r#"{"x":"a\n"}"#),
        ("null\n---\na: 1\n", "{}"),
        ("--- \n---\na: 1\n", "{}"),
        ("", "{}"),
    ];
    for (text, expected) in cases {
        assert_eq!(json_in(HelmVersion::V3, text), expected, "{text:?}");
    }
}

#[test]
fn helm_4_splits_at_separators_before_parsing() {
    for text in ["%YAML 1.1\n---\na: 1\n", "x: |\n  a\n---\n  b\n", "a: 1\n---\n["] {
        assert!(read_values(text.as_bytes(), HelmVersion::V4).is_err(), "{text:?}");
    }
}

#[test]
fn document_must_be_an_object() {
    let found = |text: &str| match read_values(text.as_bytes(), HelmVersion::V4) {
        Err(ValuesFileError::NoObject { document, found }) => (document, found),
        other => panic!("{other:?}"),
    };
    assert_eq!(found("[1]"), (1, "a list"));
    assert_eq!(found("a: 1\n---\nx\n"), (2, "a string"));
}

#[test]
fn separator_may_be_followed_only_by_a_comment() {
    for (text, line, behind) in [("a: 1\n--- b: 2\n", 2, "b: 2"), ("---- x", 1, "- x")] {
        let expected = ValuesFileError::Separator { line, text: behind.to_owned() };
        assert_eq!(read_values(text.as_bytes(), HelmVersion::V4), Err(expected));
    }
}

#[test]
fn invalid_document_is_reported_with_its_number() {
    let error = read_values(b"a: 1\n---\nb: [\n", HelmVersion::V4).expect_err("invalid YAML is rejected");
    assert!(matches!(error, ValuesFileError::Yaml { document: 2, .. }), "{error:?}");
}
