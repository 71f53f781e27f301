use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::read_document;

/// Checks the YAML of a value, which must parse to the same value.
#[track_caller]
fn check(cases: &[(Value, &str)]) {
    for (value, expected) in cases {
        let yaml = write_yaml(value);
        assert_eq!(yaml, *expected, "{value}");
        assert_eq!(read_back(&yaml), *value, "{yaml}");
    }
}

fn read_back(yaml: &str) -> Value {
    read_document(yaml.as_bytes()).expect(yaml).map_or(Value::Null, |node| node.to_value())
}

#[test]
fn objects_are_indented_and_lists_are_not() {
    check(&[
        (json!({}), "{}\n"),
        (json!([]), "[]\n"),
        (json!(null), "null\n"),
        (json!({"b": {"d": 1, "c": true}, "a": null}), "a: null\nb:\n  c: true\n  d: 1\n"),
        (json!({"a": [1, 2], "b": [], "c": {}}), "a:\n- 1\n- 2\nb: []\nc: {}\n"),
        (json!([[1, [2]], {"a": 1, "b": [{"c": 2}]}]), "- - 1\n  - - 2\n- a: 1\n  b:\n  - c: 2\n"),
    ]);
}

#[test]
fn numbers_are_written_as_in_go() {
    check(&[
        (json!([0, -1, u64::from(u32::MAX), i64::MIN]), "- 0\n- -1\n- 4294967295\n- -9223372036854775808\n"),
        (json!([0.5, 1e21, 1e-7, 1.5e300]), "- 0.5\n- 1e+21\n- 1e-7\n- 1.5e+300\n"),
    ]);
}

#[test]
fn ambiguous_strings_are_quoted() {
    for text in [
        "",
        "~",
        "null",
        "Null",
        "yes",
        "No",
        "on",
        "OFF",
        "y",
        "N",
        "true",
        "tRUE",
        ".inf",
        ".NaN",
        "0123",
        "0o17",
        "0x1F",
        "0b1",
        "1e3",
        "1e999",
        "1_000",
        "1,000",
        "+1",
        "-1",
        ".5",
        "5.",
        "1:20",
        "190:20:30.15",
        "2001-12-14",
        "2001-12-14T21:59:43Z",
        "2001-12-14 21:59:43 -5",
        "<<",
        "=",
        "- a",
        "-",
        "--",
        "---",
        "--- a",
        "...",
        "? a",
        ": a",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "'",
        "%a",
        "@a",
        "`a",
        "[a]",
        "{a}",
        "a, b",
        " a",
        "a ",
        "\ta",
    ] {
        let yaml = write_yaml(&json!({ "k": text }));
        assert!(yaml.starts_with("k: '") || yaml.starts_with("k: \""), "{yaml}");
        assert_eq!(read_back(&yaml), json!({ "k": text }), "{yaml}");
        let yaml = write_yaml(&json!({ text: 1 }));
        assert!(yaml.starts_with(['\'', '"']), "{yaml}");
        assert_eq!(read_back(&yaml), json!({ text: 1 }), "{yaml}");
    }
}

#[test]
fn other_strings_are_not_quoted() {
    for text in [
        "a",
        "a b",
        "nginx:1.25",
        "1.2.3",
        "10.0.0.1",
        "v1",
        "/bin/sh",
        "-c",
        "--flag=x",
        "a:b",
        "a#b",
        "é",
        "http://example.com/?a=b&c",
        "12e03x",
        "1-2",
        "yes!",
        "😀",
        "2001-12",
        "x=y",
        "100m",
        "5Gi",
    ] {
        check(&[(json!({ "k": text }), &format!("k: {text}\n"))]);
    }
}

#[test]
fn multi_line_strings_are_literals_where_possible() {
    check(&[
        (json!({"a": "x\ny"}), "a: |-\n  x\n  y\n"),
        (json!({"a": "x\n\n  y\n"}), "a: |\n  x\n\n    y\n"),
        (json!({"a": "x\n\n", "b": 1}), "a: |+\n  x\n\nb: 1\n"),
        (json!({"a": " x\ny"}), "a: |2-\n   x\n  y\n"),
        (json!({"a": "\nx"}), "a: |2-\n\n  x\n"),
        (json!(["x\ny \n"]), "- |\n  x\n  y \n"),
        (json!({"a": [{"b": " x\n"}]}), "a:\n- b: |2\n     x\n"),
        (json!("x\ny\n"), "|\n  x\n  y\n"),
        (json!({"a": "\n"}), "a: \"\\n\"\n"),
        (json!({"a": "x\r\ny"}), "a: \"x\\r\\ny\"\n"),
        (json!({"x\ny": 1}), "\"x\\ny\": 1\n"),
    ]);
}

#[test]
fn invalid_characters_are_escaped() {
    check(&[(
        json!({"a": "\0\u{7}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}\u{ffff}😀"}),
        "a: \"\\0\\x07\\x7F\\x85\u{a0}\\u2028\\uFEFF\\uFFFF😀\"\n",
    )]);
}

#[test]
fn long_keys_are_read_back() {
    for length in [127, 128, 129, 1_023, 1_024, 5_000] {
        let value = json!({ "k".repeat(length): {"a": 1}, "é x: ".repeat(length): ["b"] });
        assert_eq!(read_back(&write_yaml(&value)), value);
    }
}

fn strings() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ \\t\\n\\r:#'\"a0\\-\\[\\]{},&*!|>%@`?~.\u{85}\u{2028}\u{feff}\u{7f}]{0,12}",
        "[0-9+_.:,xobeETZ -]{1,10}",
        "(yes|no|on|off|y|n|null|~|true|<<|=|---|\\.\\.\\.|- |\\? |: )[ \\na]{0,3}",
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("integers read back as integers", |value| value.is_finite() && value.fract() != 0.0)
            .prop_map(Value::from),
        strings().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((strings(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn written_values_parse_to_the_same_value(value in values()) {
        let yaml = write_yaml(&value);
        prop_assert_eq!(read_back(&yaml), value, "{}", yaml);
    }
}
