//! Parsing of exact values, and how helm receives them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tiphys_helm_values::{Assignment, Flag, HelmVersion, Inputs, LIMITS, ValuesFile, merged};
use tiphys_model::params::Parameter;
use tiphys_yaml::write_go_json;

use super::{ExactValue, hand_over, quotations};
use crate::home::Home;
use crate::options::{AssignmentKind, HelmOptions};
use crate::redaction::without_values;
use crate::template::argument;

fn exact(values: &[(&str, Value)]) -> Vec<ExactValue> {
    values.iter().map(|(name, value)| ExactValue::parse(name, &value.to_string()).unwrap()).collect()
}

fn decode(parameters: &[(&str, &str)]) -> Result<HelmOptions, String> {
    let parameter = |(name, value): &(&str, &str)| Parameter {
        name: (*name).to_owned(),
        string: Some((*value).to_owned()),
        ..Parameter::default()
    };
    let parameters: Vec<Parameter> = parameters.iter().map(parameter).collect();
    HelmOptions::decode(&parameters).map_err(|error| crate::failure::chain(&error))
}

#[test]
fn invalid_parameter_is_rejected_without_its_value() {
    const NOT_JSON: &str = "parameter value.a: expected one JSON value; write a string in quotation marks";
    const NUMBER: &str = "parameter value.a: expected an integer of 64 bits; write another number as a string in quotation marks";
    const INEXACT: &str = "parameter value.a: an integer in a list or map must be exact as a 64-bit float; set it by a parameter of its own";
    let cases = [
        ("value.a", "hunter22", NOT_JSON),
        ("value.a", "\"hunter22", NOT_JSON),
        ("value.a", "\"hunter22\" x", NOT_JSON),
        ("value.a", "{hunter22: 1}", NOT_JSON),
        ("value.a", "", NOT_JSON),
        ("value.a", "1.5", NUMBER),
        ("value.a", "9223372036854775808", NUMBER),
        ("value.a", "-9223372036854775809", NUMBER),
        ("value.a", "1e3", NUMBER),
        ("value.a", r#"{"hunter22":[9007199254740993]}"#, INEXACT),
        (
            "value.a[0]",
            r#"["hunter22"]"#,
            "parameter value.a[0]: a list or map cannot be set at a path with an index; set the whole list",
        ),
        (
            "value.",
            r#""hunter22""#,
            "parameter value.: the name \"\" has an empty key; write a key before each dot and bracket, and after each dot",
        ),
        (
            "value.[0]",
            r#""hunter22""#,
            "parameter value.[0]: the name \"[0]\" has an empty key; write a key before each dot and bracket, and after each dot",
        ),
        (
            "value.a=b",
            r#""hunter22""#,
            "parameter value.a=b: the name \"a=b\" has '=', which ends a name; write \\= if it belongs to a key",
        ),
    ];
    for (name, value, expected) in cases {
        assert_eq!(decode(&[(name, value)]), Err(expected.to_owned()), "{name} {value}");
    }
    let array =
        Parameter { name: "value.a".into(), array: Some(vec!["hunter22".into()]), ..Parameter::default() };
    assert_eq!(
        HelmOptions::decode(&[array]).unwrap_err().to_string(),
        "parameter value.a: expected the value in the field string, found array"
    );
    let shown = format!("{:?}", decode(&[("value.a", r#""hunter22""#)]).unwrap());
    assert!(shown.contains("ExactValue") && !shown.contains("hunter22"), "{shown}");
}

#[test]
fn equal_or_nested_paths_are_rejected() {
    let refused = |one: &str, other: &str| {
        Err(format!(
            "parameters {one} and {other} may set the same value, or one a part of the other; remove one of them"
        ))
    };
    let cases = [
        (&["value.a", "value.a"], refused("value.a", "value.a")),
        (&["value.a.b", "value.a"], refused("value.a", "value.a.b")),
        (&["value.a", "value.a[0]"], refused("value.a[0]", "value.a")),
        (&["set.a", "value.a"], refused("value.a", "set.a")),
        (&["value.a.b", "set-string.a"], refused("value.a.b", "set-string.a")),
        (&["value.a", "set-file.a.b"], refused("value.a", "set-file.a.b")),
        // Different notations of one path.
        (&[r"set.\a[00]", "value.a[0]"], refused("value.a[0]", r"set.\a[00]")),
        // Helm decides what these names set, not the plugin.
        (&["set.b=hunter22,a", "value.a"], refused("value.a", "set.b")),
        (&["set-string.a.", "value.b"], refused("value.b", "set-string.a.")),
        (&["value.a.b", "value.a.c"], Ok(2)),
        (&["value.a[0]", "set.a[1]"], Ok(1)),
        (&[r"value.a\.b", "set.a"], Ok(1)),
        (&["value.a", "set.ab"], Ok(1)),
    ];
    for (names, expected) in cases {
        let decoded = decode(&names.map(|name| (name, "7")));
        assert_eq!(decoded.map(|options| options.exact_values.len()), expected, "{names:?}");
    }
}

#[test]
fn values_are_handed_over_by_type() {
    let temporary = tempfile::tempdir().unwrap();
    let home = Home::in_a_test(temporary.path()).unwrap();
    let values = exact(&[
        ("text", json!("a,b\n")),
        ("count", json!(1_000_000)),
        ("on", json!(true)),
        ("off", json!(null)),
        ("m.list", json!([1, "\u{7f}\u{85}\u{9f}\u{a0}\u{feff}\u{ffff}<😀"])),
        (r"m.a\.b", json!({})),
        ("last\\", json!(i64::MIN)),
    ]);
    let handed_over = hand_over(&values, &mut |name, content| home.write(name, content)).unwrap();
    let file = |name: &str| home.path().join(name);
    let text_file = file("exact-0");
    let expected = [
        (AssignmentKind::File, "text", text_file.to_str().unwrap()),
        (AssignmentKind::Value, "count", "1000000"),
        (AssignmentKind::Value, "on", "true"),
        (AssignmentKind::Value, "off", "null"),
        (AssignmentKind::Value, "last", "-9223372036854775808"),
    ];
    assert_eq!(
        handed_over.assignments,
        expected.map(|(kind, name, value)| (kind, name.to_owned(), value.to_owned()))
    );
    assert_eq!(handed_over.values_file, Some(file("exact")));
    let content =
        r#"{"m":{"a.b":{},"list":[1,"\u007f\u0085\u009f@\ufeff\uffff\u003c😀"]}}"#.replace('@', "\u{a0}");
    assert_eq!(fs::read_to_string(file("exact")).unwrap(), content);
    assert_eq!(fs::read_to_string(file("exact-0")).unwrap(), "a,b\n");
    for name in ["exact", "exact-0"] {
        assert_eq!(fs::metadata(file(name)).unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn values_are_redacted_in_the_output_of_programs() {
    let values = exact(&[
        ("a", json!("pa'ss\"<word>")),
        ("b", json!("first line\n  second: line\nabc\n")),
        ("c", json!({ "key": ["nested", { "n": 1_000_000 }], "true": true })),
        ("d", json!([12345, -123_456, 1.5e-7, 1234.5, 1_234_567])),
        ("e", json!("word")),
        ("f", json!("abc")),
    ]);
    let cases = [
        (r#"at pa'ss"<word>, "pa'ss\"<word>""#, r#"at ******, "******""#),
        (r#"'pa\'ss"<word>' {"x":"pa'ss\"\u003cword\u003e"}"#, r#"'******' {"x":"******"}"#),
        (r#""first line\n  second: line\nabc\n""#, r#""******""#),
        ("    first line\n      second: line\n    abc", "    ******\n      ******\n    abc"),
        (
            "map[key:[nested map[n:1e+06]] true:true] 1000000",
            "map[key:[****** map[n:******]] true:true] ******",
        ),
        ("12345 x123456", "****** x******6"),
        ("12,345 -123,456 1,234.5 -123456 1234.5", "****** ****** ****** ****** ******"),
        ("1×10⁰⁶ 1.5×10⁻⁰⁷ 1.5e-07 1.234567×10⁰⁶", "****** ****** ****** ******"),
        ("password abc", "pass****** abc"),
    ];
    for (text, expected) in cases {
        assert_eq!(without_values(text, &[], &values), expected);
    }
    // The longer secret first, whichever parameter has it.
    assert_eq!(without_values("my password", &["password".to_owned()], &values), "my ******");
}

#[test]
fn value_in_cut_output_is_redacted() {
    let values = exact(&[("a", json!("0123456789ü")), ("b", json!("line one\nline two"))]);
    let cases = [
        ("at 0123\n[… 9 bytes left out …]\n789ü end", "at ******\n[… 9 bytes left out …]\n****** end"),
        ("at 012\n[… 9 bytes left out …]\n9ü end", "at 012\n[… 9 bytes left out …]\n9ü end"),
        (
            "at 0123456789\u{fffd}\n[… 9 bytes left out …]\n\u{fffd} end",
            "at ******\n[… 9 bytes left out …]\n end",
        ),
        (
            "\"line one\\nli\n[… 9 bytes left out …]\ne one\\nline two\"",
            "\"******\n[… 9 bytes left out …]\n******\"",
        ),
        ("0123\n[… 9 bytes left out …]", "******\n[… 9 bytes left out …]"),
    ];
    for (text, expected) in cases {
        assert_eq!(without_values(text, &[], &values), expected);
    }
}

#[test]
fn short_values_and_keys_are_not_redacted() {
    let values = exact(&[("a", json!({ "long-key": "abc", "n": 999, "b": false, "z": null }))]);
    let text = "long-key abc 999 false null";
    assert_eq!(without_values(text, &[], &values), text);
    assert!(!quotations(&values).contains("long-key"));
}

/// Any JSON value. Integers in lists and maps are exact floats.
fn any_json() -> impl Strategy<Value = Value> {
    let text = || {
        prop_oneof![
            any::<String>(),
            r"[a-c,={}\[\]\\$.'\x22:#&*!|>%@ \n\t-]{0,12}",
            "true|null|0x1F|1e3|~|<<|007"
        ]
    };
    let inner = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let nested = inner.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop_oneof![nested, any::<i64>().prop_map(Value::from)]
}

proptest! {
    /// Helm merges exactly the values at their paths, and leaves all others.
    #[test]
    fn only_the_given_values_are_set(values in prop::collection::vec(any_json(), 4)) {
        let temporary = tempfile::tempdir().unwrap();
        let home = Home::in_a_test(temporary.path()).unwrap();
        let names = ["top", "m.scalar", "new.x", r"m.a\.b\,\=\[0]"];
        let parameters: Vec<(&str, Value)> = names.into_iter().zip(values.iter().cloned()).collect();
        let handed_over = hand_over(&exact(&parameters), &mut |name, content| home.write(name, content)).unwrap();

        let flag = |kind| match kind {
            AssignmentKind::Value => Flag::Set,
            AssignmentKind::Text => Flag::SetString,
            AssignmentKind::File => Flag::SetFile,
        };
        let arguments: Vec<(Flag, String)> =
            handed_over.assignments.iter().map(|(kind, name, value)| (flag(*kind), argument(*kind, name, value))).collect();
        let assignments: Vec<_> = arguments.iter().map(|(flag, text)| Assignment { flag: *flag, text }).collect();
        let file = handed_over.values_file.map_or_else(|| b"{}".to_vec(), |path| fs::read(path).unwrap());
        let base = b"top: old\nother: {a: 1}\nm: {scalar: old, stays: [1, 2]}\n";
        let values_files = [ValuesFile { name: "base", text: base }, ValuesFile { name: "exact", text: &file }];
        let read_file = |path: &str| fs::read_to_string(path).map_err(|error| error.to_string());
        let expected = json!({
            "top": values[0], "other": { "a": 1 }, "new": { "x": values[2] },
            "m": { "scalar": values[1], "stays": [1, 2], "a.b,=[0]": values[3] },
        });
        for version in [HelmVersion::V3, HelmVersion::V4] {
            let inputs = Inputs { version, values_files: &values_files, assignments: &assignments, read_file: &read_file, limits: LIMITS };
            let found: Map<String, Value> =
                merged(&inputs).unwrap().iter().map(|(key, value)| (key.clone(), value.to_json_value())).collect();
            // As JSON, since every number of a file is a float.
            prop_assert_eq!(write_go_json(&found.into()), write_go_json(&expected));
        }
    }

    /// No error and no debug output contains a value.
    #[test]
    fn value_is_in_no_error(name in r"[a-c.,=\[\]0\\]{0,6}", value in "[A-Z\"{}\\[\\]:,]{4,12}") {
        if let Err(error) = decode(&[(&format!("value.{name}"), &value)]) {
            prop_assert!(!error.contains(&value), "{error}");
        }
    }
}
