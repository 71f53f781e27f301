use super::{Chart, coalesce};
use crate::{HelmVersion, Value, read_values};

fn run(chart: &str, values: &str, version: HelmVersion) -> String {
    let read = |text: &str| read_values(text.as_bytes()).expect("Helm takes it");
    let chart = Chart { values: read(chart), ..Chart::default() };
    Value::Map(coalesce(&chart, read(values), version).expect("there are no subcharts")).to_json()
}

/// Chart, values, Helm 4's result, and Helm 3's where it is another; Helm 4's were tried with Helm 4.3.1.
#[test]
fn nulls_delete_defaults() {
    let cases = [
        ("a: null", "{}", "{}", r#"{"a":null}"#),
        ("a: {b: {c: null}}", "{}", r#"{"a":{"b":{}}}"#, r#"{"a":{"b":{"c":null}}}"#),
        ("a: [null, {x: null}]", "{}", r#"{"a":[null,{"x":null}]}"#, ""),
        ("a: {b: 1}", "a: {b: null}", r#"{"a":{}}"#, ""),
        ("a: {b: 1}", "a: {x: null}", r#"{"a":{"b":1,"x":null}}"#, r#"{"a":{"b":1}}"#),
        ("a: {b: null}", "a: {b: null}", r#"{"a":{"b":null}}"#, r#"{"a":{}}"#),
        ("a: null", "a: null", "{}", ""),
        ("a: 1", "a: {x: null}", r#"{"a":{"x":null}}"#, ""),
        ("{}", "{x: null, a: {x: null}}", r#"{"a":{"x":null},"x":null}"#, ""),
        (
            "a: {b: {c: {d: null}}}",
            "a: {z: 1}",
            r#"{"a":{"b":{"c":{}},"z":1}}"#,
            r#"{"a":{"b":{"c":{"d":null}},"z":1}}"#,
        ),
        ("l: [1, 2]", "l: [z]", r#"{"l":["z"]}"#, ""),
    ];
    for (chart, values, helm_4, helm_3) in cases {
        assert_eq!(run(chart, values, HelmVersion::V4), helm_4, "{chart} with {values}");
        let expected = if helm_3.is_empty() { helm_4 } else { helm_3 };
        assert_eq!(run(chart, values, HelmVersion::V3), expected, "{chart} with {values} in Helm 3");
    }
}
