use super::{Chart, Dependency, Import, coalesce, enabled};
use crate::{DEPTH_MAX, HelmVersion, Map, Value, read_values};

fn read(text: &str) -> Map {
    read_values(text.as_bytes(), HelmVersion::V4).expect("the values are valid")
}

fn chart(name: &str, values: &str, subcharts: Vec<Chart>) -> Chart {
    Chart { name: name.to_owned(), values: read(values), subcharts, dependencies: None }
}

fn seen(chart: &Chart, values: &str) -> String {
    match coalesce(chart, read(values), HelmVersion::V4) {
        Ok(values) => Value::Map(values).to_json(),
        Err(error) => error.to_string(),
    }
}

fn run(defaults: &str, values: &str, version: HelmVersion) -> String {
    let seen = coalesce(&chart("p", defaults, vec![]), read(values), version);
    Value::Map(seen.expect("no subcharts")).to_json()
}

/// Chart, values, Helm 4's result, and Helm 3's if different; all verified with Helm 4.3.1 and 3.21.4.
#[test]
fn nulls_delete_defaults() {
    let cases = [
        ("a: null", "{}", "{}", r#"{"a":null}"#),
        ("a: {b: {c: null}}", "{}", r#"{"a":{"b":{}}}"#, r#"{"a":{"b":{"c":null}}}"#),
        ("a: [null, {x: null}]", "{}", r#"{"a":[null,{"x":null}]}"#, ""),
        ("a: {b: 1}", "a: {b: null}", r#"{"a":{}}"#, ""),
        ("a: {b: 1}", "a: {x: null}", r#"{"a":{"b":1,"x":null}}"#, ""),
        ("a: {b: null}", "a: {b: null}", r#"{"a":{"b":null}}"#, ""),
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

#[test]
fn subchart_gets_the_values_under_its_name() {
    let cases = [
        ("{}", "{x: 1}", "{}", r#"{"s":{"global":{},"x":1}}"#),
        ("s: {x: 2}", "{x: 1, w: 1}", "s: {w: 3}", r#"{"s":{"global":{},"w":3,"x":2}}"#),
        ("s: {x: 5}", "x: 1", "s: {x: null}", r#"{"s":{"global":{}}}"#),
        // A null in the parent's defaults is lost unless the user sets a sibling.
        ("s: {x: null}", "{x: 1, w: 2}", "{}", r#"{"s":{"global":{},"w":2,"x":1}}"#),
        ("s: {x: null}", "{x: 1, w: 2}", "s: {z: 1}", r#"{"s":{"global":{},"w":2,"z":1}}"#),
        ("s: {}", "x: 1", "s: null", r#"{"s":{"global":{},"x":1}}"#),
    ];
    for (parent, subchart, values, expected) in cases {
        let parent_chart = chart("p", parent, vec![chart("s", subchart, vec![])]);
        assert_eq!(seen(&parent_chart, values), expected, "{parent} and {subchart} with {values}");
    }
}

#[test]
fn globals_are_inherited_and_the_parents_win() {
    let cases = [
        ("global: {a: 1}", "global: {a: 2, b: 3}", r#"{"global":{"a":1},"s":{"global":{"a":1,"b":3}}}"#),
        ("global: 5", "global: {a: 1}", r#"{"global":5,"s":{"global":{"a":1}}}"#),
        ("global: {a: 1}", "global: 5", r#"{"global":{"a":1},"s":{"global":{"a":1}}}"#),
        ("global: {a: {z: 1}}", "global: {a: 1}", r#"{"global":{"a":{"z":1}},"s":{"global":{"a":{"z":1}}}}"#),
        // The parent's value for the subchart stays if the types differ.
        (
            "{global: {a: {z: 1}}, s: {global: {a: 1}}}",
            "{}",
            r#"{"global":{"a":{"z":1}},"s":{"global":{"a":1}}}"#,
        ),
        (
            "{global: {a: 1}, s: {global: {a: {z: 1}}}}",
            "{}",
            r#"{"global":{"a":1},"s":{"global":{"a":{"z":1}}}}"#,
        ),
        // Helm copies `m`, but shares `k` in it.
        (
            "global: {m: {k: {a: 1}}}",
            "global: {m: {k: {z: 1}, j: 1}}",
            r#"{"global":{"m":{"k":{"a":1,"z":1}}},"s":{"global":{"m":{"j":1,"k":{"a":1,"z":1}}}}}"#,
        ),
    ];
    for (parent, subchart, expected) in cases {
        let parent_chart = chart("p", parent, vec![chart("s", subchart, vec![])]);
        assert_eq!(seen(&parent_chart, "{}"), expected, "{parent} and {subchart}");
    }
}

fn import(child: &str, parent: &str) -> Import {
    Import { child: child.to_owned(), parent: parent.to_owned() }
}

fn dependency(name: &str, condition: &str, tags: &[&str], imports: Vec<Import>) -> Dependency {
    let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    Dependency { name: name.to_owned(), condition: condition.to_owned(), tags, imports }
}

#[test]
fn imports_are_below_own_values_and_ignore_the_users() {
    let subchart = || chart("s", "{data: {x: {w: 1}, k: null}, exports: {d: {a: 2, b: 3}}}", vec![]);
    let cases = [
        (vec![import("exports.d", ".")], r#""a":1,"b":3"#),
        (vec![import("data", "i.d")], r#""a":1,"i":{"d":{"x":{"w":1}}}"#),
        (vec![import("data.x", "a"), import("none", "i")], r#""a":1"#),
    ];
    for (imports, expected) in cases {
        let dependencies = Some(vec![dependency("s", "", &[], imports.clone())]);
        let parent = Chart { dependencies, ..chart("p", "a: 1", vec![subchart()]) };
        let seen = seen(&parent, "s: {data: {x: {w: 7}}}");
        assert!(seen.starts_with(&format!("{{{expected},\"s\":")), "{imports:?}: {seen}");
    }
}

#[test]
fn conditions_and_tags_disable_subcharts() {
    let cases = [
        ("", &[][..], "{}", true),
        ("s.use", &[], "s: {use: false}", false),
        (" s.use\n", &[], "s: {use: false}", false),
        ("s.use", &[], "s: {use: true}", true),
        ("s.use", &[], "s: {use: 'false'}", true),
        ("a.b,s.use", &[], "{a: {b: false}, s: {use: true}}", false),
        ("a.b,s.use", &[], "{a: {b: 1}, s: {use: false}}", false),
        ("s.use", &["t"], "{s: {use: true}, tags: {t: false}}", true),
        ("", &["t"], "tags: {t: false}", false),
        ("", &["t", "u"], "tags: {t: false, u: true}", true),
        ("", &["t"], "tags: {u: false}", true),
        ("", &["t"], "tags: no", true),
    ];
    for (condition, tags, values, is_enabled) in cases {
        let dependencies = Some(vec![dependency("s", condition, tags, vec![])]);
        let parent = Chart { dependencies, ..chart("p", "{}", vec![chart("s", "x: 1", vec![])]) };
        let kept = enabled(&parent, &read(values), HelmVersion::V4).expect("matching values");
        assert_eq!(kept.subcharts.len(), usize::from(is_enabled), "{condition} {tags:?} with {values}");
        assert_eq!(
            seen(&parent, values).contains("\"x\":1"),
            is_enabled,
            "{condition} {tags:?} with {values}"
        );
    }
}

#[test]
fn chart_with_all_subcharts_disabled_has_no_dependencies() {
    let dependencies = Some(vec![dependency("s", "s.use", &[], vec![])]);
    let inner = Chart { dependencies, ..chart("t", "{}", vec![chart("s", "{}", vec![])]) };
    let kept = enabled(&inner, &read("s: {use: false}"), HelmVersion::V4).expect("matching values");
    assert_eq!(kept, chart("t", "{}", vec![]));
}

#[test]
fn conditions_of_a_subchart_are_below_its_name() {
    let listed = |name: &str, values: &str, condition: &str, subchart: Chart| Chart {
        dependencies: Some(vec![dependency(&subchart.name, condition, &[], vec![])]),
        ..chart(name, values, vec![subchart])
    };
    let middle = listed("s", "u: {use: true}", "u.use", chart("u", "x: 1", vec![]));
    let parent = listed("p", "{}", "", middle);
    for (values, is_enabled) in [("u: {use: false}", true), ("s: {u: {use: false}}", false)] {
        assert_eq!(seen(&parent, values).contains("\"x\":1"), is_enabled, "{values}");
    }
}

#[test]
fn non_object_for_a_subchart_has_the_error_of_helm() {
    let parent = chart("p", "{}", vec![chart("s", "x: 1", vec![])]);
    let cases = [
        ("s: null", "%!t(<nil>)"),
        ("s: true", "true"),
        ("s: 1000000", "%!t(float64=1e+06)"),
        ("s: t", "%!t(string=t)"),
        (
            "s: [1, true, null, {a: null, b: x}]",
            "[%!t(float64=1) true <nil> map[%!t(string=a):<nil> %!t(string=b):%!t(string=x)]]",
        ),
    ];
    for (values, shown) in cases {
        assert_eq!(seen(&parent, values), format!("type mismatch on s: {shown}"));
    }
}

#[test]
fn listed_dependencies_are_checked_more_strictly() {
    let listed = |name: &str, values: &str, subchart: Chart| Chart {
        dependencies: Some(vec![dependency(&subchart.name, "", &[], vec![])]),
        ..chart(name, values, vec![subchart])
    };
    // The null is a default, which an unlisted subchart does not get.
    let parent = listed("p", "s: null", chart("s", "x: 1", vec![]));
    assert_eq!(seen(&parent, "{}"), "type mismatch on s: %!t(<nil>)");
    assert_eq!(seen(&Chart { dependencies: None, ..parent }, "{}"), r#"{"s":{"global":{},"x":1}}"#);
    // The value that conflicts with the nested subchart is at the top.
    let parent = listed("p", "{}", listed("s", "{}", chart("u", "{}", vec![])));
    assert_eq!(seen(&parent, "u: 5"), "type mismatch on u: %!t(float64=5)");
}

#[test]
fn values_at_the_depth_limit_are_merged() {
    let levels = DEPTH_MAX;
    let text = |value: &str| format!("{}{value}{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let subchart = chart("a", &text("1"), vec![]);
    let parent = Chart {
        dependencies: Some(vec![dependency("a", "", &[], vec![import("a", "b")])]),
        ..chart("p", &text("1"), vec![subchart])
    };
    let merged = coalesce(&parent, read(&text("2")), HelmVersion::V4).expect("matching values");
    let merged = Value::Map(merged);
    assert!(merged.to_json().contains(&text("2")["{\"a\":{".len()..levels]));
    assert!(merged.to_string().contains("a:2"));
}
