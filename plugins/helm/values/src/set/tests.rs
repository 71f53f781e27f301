use super::{INDEX_MAX, LIMITS, Limits};
use crate::{Assignment, Flag, HelmVersion, Inputs, Map, MergeError, Value, ValuesFile, merged, no_files};

fn apply(flag: Flag, text: &str, base: &str, version: HelmVersion) -> Result<Map, MergeError> {
    merged(&Inputs {
        version,
        values_files: &[ValuesFile { name: "base.yaml", text: base.as_bytes() }],
        assignments: &[Assignment { flag, text }],
        read_file: &no_files,
        limits: LIMITS,
    })
}

fn json(flag: Flag, text: &str, base: &str) -> String {
    let values = apply(flag, text, base, HelmVersion::V4).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    Value::Map(values).to_json()
}

fn cause(flag: Flag, text: &str, base: &str, version: HelmVersion) -> String {
    let error = apply(flag, text, base, version).expect_err("Helm rejects it");
    std::error::Error::source(&error).expect("the error has a cause").to_string()
}

/// Special cases without a recorded answer; each verified with Helm 4.3.1.
#[test]
fn values_below_an_empty_key_are_changed_never_created() {
    let cases = [
        (".y=2", r#"{"": {"x": 1}}"#, r#"{"":{"x":1,"y":2}}"#),
        ("[0]=2", r#"{"": [1, 5]}"#, r#"{"":[2,5]}"#),
        ("[3]=2", r#"{"": [1, 5]}"#, r#"{"":[1,5]}"#),
        ("=2", r#"{"": [1, 5]}"#, r#"{"":[1,5]}"#),
        (".y=2", "{}", "{}"),
    ];
    for (text, base, expected) in cases {
        assert_eq!(json(Flag::Set, text, base), expected, "{text}");
    }
}

#[test]
fn end_of_string_leaves_lists_incomplete() {
    let cases = [
        ("a[0].b=", "{}", r#"{"a":[]}"#),
        ("a[0].b.c=", "{}", r#"{"a":[]}"#),
        ("a[0][0].b=", "{}", r#"{"a":[]}"#),
        ("a[0].b=,c=1", "{}", r#"{"a":[{"b":""}],"c":1}"#),
        ("a[0]=", "{}", r#"{"a":[""]}"#),
        ("a[0].b=", r#"{"a": [{"x": 1}]}"#, r#"{"a":[{"b":"","x":1}]}"#),
        ("a[0].", r#"{"a": [1]}"#, r#"{"a":[{}]}"#),
        ("a[0].", r#"{"a": [{"x": 1}]}"#, r#"{"a":[{"x":1}]}"#),
        ("a.b[0", "{}", "{}"),
        ("a[0].b[", "{}", r#"{"a":[]}"#),
    ];
    for (text, base, expected) in cases {
        assert_eq!(json(Flag::Set, text, base), expected, "{text}");
    }
}

#[test]
fn only_nulls_in_lists_are_replaced() {
    assert_eq!(json(Flag::Set, "a[0].b=2", r#"{"a": [null]}"#), r#"{"a":[{"b":2}]}"#);
    assert_eq!(json(Flag::Set, "a[0][0]=2", r#"{"a": [null]}"#), r#"{"a":[[2]]}"#);
    assert_eq!(json(Flag::Set, "a[0][0].b=2", r#"{"a": [[5]]}"#), r#"{"a":[[{"b":2}]]}"#);
    let refused = cause(Flag::Set, "a[0][0]=2", r#"{"a": [{"x": 1}]}"#, HelmVersion::V4);
    assert_eq!(
        refused,
        "unable to parse key: interface conversion: interface {} is map[string]interface {}, not []interface {}"
    );
}

#[test]
fn lists_of_files_may_exceed_the_index_limit() {
    let base = format!("{{\"a\": [{}{{\"x\": [0]}}]}}", "0,".repeat(INDEX_MAX + 1));
    for name in ["a[65537]", "a[65537].x", "a[65537].x[0]"] {
        let error = cause(Flag::Set, &format!("{name}=1"), &base, HelmVersion::V4);
        assert_eq!(error, "index of 65537 is greater than maximum supported index of 65536", "{name}");
    }
    let base = base.replace("{\"x\": [0]}", "[0]");
    let error = cause(Flag::Set, "a[65537][0]=1", &base, HelmVersion::V4);
    assert_eq!(error, "index of 65537 is greater than maximum supported index of 65536");
}

#[test]
fn open_index_ends_the_argument_only_in_helm_4() {
    assert_eq!(json(Flag::Set, "a=1,b[0", "{}"), r#"{"a":1}"#);
    assert_eq!(cause(Flag::Set, "a=1,b[0", "{}", HelmVersion::V3), "error parsing index: EOF");
}

#[test]
fn indexes_in_one_name_are_limited() {
    let name = |count: usize| format!("a{}=1", "[0]".repeat(count));
    let most = LIMITS.indexes_max;
    assert!(apply(Flag::Set, &name(most), "{}", HelmVersion::V4).is_ok());
    let error = cause(Flag::Set, &name(most + 1), "{}", HelmVersion::V4);
    assert_eq!(error, format!("the name has more than {most} indexes"));
}

#[test]
fn added_items_are_limited_over_all_assignments() {
    let run = |texts: &[&str]| {
        let assignments: Vec<_> = texts.iter().map(|&text| Assignment { flag: Flag::Set, text }).collect();
        merged(&Inputs {
            version: HelmVersion::V4,
            values_files: &[],
            assignments: &assignments,
            read_file: &no_files,
            limits: Limits { added_items_max: 10, ..LIMITS },
        })
    };
    assert!(run(&["a[3]=x,b[3]=x", "c[1]=x,a[0]=y"]).is_ok());
    let error = run(&["a[3]=x,b[3]=x", "c[2]=x"]).expect_err("it exceeds the limit");
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    assert_eq!(cause.as_deref(), Some("the assignments add more than 10 items to lists"));
}
