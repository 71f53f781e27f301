//! Fields of `Chart.yaml` and `requirements.yaml`, and their validation.

use tiphys_helm_values::HelmVersion;

use super::{Dependency, Maintainer, Metadata};
use crate::{assert_as_helm, chart_of};

/// Decodes the metadata of a chart with these files.
fn metadata(chart: &str, requirements: &str) -> Result<Metadata, String> {
    let files = [("Chart.yaml", chart), ("requirements.yaml", requirements)];
    chart_of(&files, HelmVersion::V3).map(|chart| chart.metadata)
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn all_fields_are_read() {
    let text = "
apiVersion: v2
name: 'a\tb'
Version: 1.2.3
HOME: \"https://a\\u0001\\u200b\"
sources: [1, true, null, x]
description: \"a\\u00a0b\\u2028c é\"
keywords: [0x10, \"a\\nb\"]
maintainers: [{Name: \"x\\ty\", email: 1e6, url: u}, {}]
icon: i
condition: c
tags: 1.10
appVersion: 1e6
deprecated: yes
annotations: {a: 1, b: null, c: \"x\\ty\"}
kubeVersion: '>=1'
type: library
unknown: [a]
dependencies: [{name: d, alias: e}]
";
    let found = metadata(text, "").unwrap();
    assert_eq!(found.dependencies.iter().flatten().map(Dependency::known_as).collect::<Vec<_>>(), ["e"]);
    let maintainer = |name: &str, email: &str, url: &str| Maintainer {
        name: name.to_owned(),
        email: email.to_owned(),
        url: url.to_owned(),
    };
    let expected = Metadata {
        name: "a b".to_owned(),
        home: "https://a".to_owned(),
        sources: Some(strings(&["1", "true", "", "x"])),
        version: "1.2.3".to_owned(),
        description: "a b c é".to_owned(),
        keywords: Some(strings(&["16", "a b"])),
        maintainers: vec![maintainer("x y", "1e+06", "u"), maintainer("", "", "")],
        icon: "i".to_owned(),
        api_version: "v2".to_owned(),
        condition: "c".to_owned(),
        tags: "1.1".to_owned(),
        app_version: "1e+06".to_owned(),
        deprecated: true,
        annotations: Some(
            [("a", "1"), ("b", ""), ("c", "x\ty")].map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
        ),
        kube_version: ">=1".to_owned(),
        dependencies: found.dependencies.clone(),
        chart_type: "library".to_owned(),
    };
    assert_eq!(found, expected);
}

#[test]
fn missing_fields_are_empty() {
    let found = metadata("name: a\nversion: '1'\nannotations: null\ndependencies: null\n", "").unwrap();
    let expected = Metadata {
        name: "a".to_owned(),
        version: "1".to_owned(),
        api_version: "v1".to_owned(),
        ..Metadata::default()
    };
    assert_eq!(found, expected);
}

#[test]
fn requirements_are_decoded_over_the_chart() {
    let chart = "{name: a, version: 1.0.0, keywords: [a, b, c], maintainers: [{name: m, url: u}, {name: n}], \
                 annotations: {a: x, b: y}, home: h, dependencies: [{name: d, version: 1.0.0}]}";
    let requirements = "{name: z, keywords: [x, null], maintainers: [{name: o}], annotations: {b: z}, home: null, \
                        dependencies: [{alias: e}]}";
    let found = metadata(chart, requirements).unwrap();
    assert_eq!((found.name.as_str(), found.home.as_str()), ("z", "h"));
    assert_eq!(found.keywords, Some(strings(&["x", "b"])));
    let maintainers: Vec<_> =
        found.maintainers.iter().map(|one| (one.name.as_str(), one.url.as_str())).collect();
    assert_eq!(maintainers, [("o", "u")]);
    assert_eq!(found.annotations.map(|map| map.into_values().collect()), Some(strings(&["x", "z"])));
    let dependencies = found.dependencies.iter().flatten();
    let dependencies: Vec<_> = dependencies.map(|one| (one.name.as_str(), one.known_as())).collect();
    assert_eq!(dependencies, [("d", "e")]);
}

/// Returns `Chart.yaml` with the error of Helm 3.
fn cases() -> Vec<(String, &'static str)> {
    let valid = "name: a\nversion: 1.0.0\n";
    let dependencies = |items: &str| format!("{valid}dependencies: [{items}]");
    vec![
        ("{}".to_owned(), "validation: chart.metadata.name is required"),
        (String::new(), "validation: chart.metadata.name is required"),
        ("null".to_owned(), "validation: chart.metadata.name is required"),
        ("name: \"\\u0001\"".to_owned(), "validation: chart.metadata.name is required"),
        ("name: .".to_owned(), "validation: chart.metadata.name \".\" is not allowed"),
        ("name: ..".to_owned(), "validation: chart.metadata.name \"..\" is not allowed"),
        ("name: a/b".to_owned(), "validation: chart.metadata.name \"a/b\" is invalid"),
        ("name: a/".to_owned(), "validation: chart.metadata.name \"a/\" is invalid"),
        ("name: a\ntype: x".to_owned(), "validation: chart.metadata.version is required"),
        ("name: a\nversion: x.y".to_owned(), "validation: chart.metadata.version \"x.y\" is invalid"),
        ("name: a\nversion: v1".to_owned(), ""),
        (format!("{valid}type: x"), "validation: chart.metadata.type must be application or library"),
        (
            format!("{valid}maintainers: [{{}}, null]\ndependencies: [null]"),
            "validation: maintainers must not contain empty or null nodes",
        ),
        (dependencies("{name: b}, null"), "validation: dependencies must not contain empty or null nodes"),
        (
            dependencies("{name: b, alias: 'x.y'}, null"),
            "validation: dependency \"b\" has disallowed characters in the alias",
        ),
        (
            dependencies("{name: b}, {name: c, alias: b}"),
            "validation: more than one dependency with name or alias \"b\"",
        ),
        (dependencies("{name: b}, {name: b, alias: c_-1}"), ""),
        (dependencies("{}, {}"), "validation: more than one dependency with name or alias \"\""),
        (
            "name: [a]".to_owned(),
            "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             struct field Metadata.name of type string",
        ),
        (
            dependencies("{name: b, tags: {a: b}}"),
            "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal object into Go \
             struct field Dependency.dependencies.tags of type []string",
        ),
        (
            format!("{valid}annotations: {{a: [b]}}\ndependencies: [{{name: b}}]\ndeprecated: x"),
            "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             struct field Metadata.annotations of type string",
        ),
        (
            format!("{valid}dependencies: [{{name: b}}]\ndeprecated: x"),
            "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go \
             struct field Metadata.deprecated of type bool",
        ),
        (
            "- a".to_owned(),
            "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             value of type chart.Metadata",
        ),
    ]
}

#[test]
fn invalid_metadata_is_rejected_in_helms_order() {
    for (text, expected) in cases() {
        assert_eq!(metadata(&text, "").err().unwrap_or_default(), expected, "{text}");
    }
}

#[test]
fn real_helm_rejects_the_same_metadata() {
    for (text, _) in cases().iter().filter(|(_, expected)| !expected.is_empty()) {
        assert_as_helm(&[("Chart.yaml", text.as_bytes())]);
    }
}

#[test]
fn requirements_can_invalidate_the_metadata() {
    for (requirements, expected) in [
        ("name: ''", "validation: chart.metadata.name is required"),
        ("dependencies: [null]", "validation: dependencies must not contain empty or null nodes"),
        ("apiVersion: ''", "validation: chart.metadata.apiVersion is required"),
        (
            "deprecated: 1",
            "cannot load requirements.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into \
             Go struct field Metadata.deprecated of type bool",
        ),
    ] {
        let chart = "name: a\nversion: 1.0.0\ndependencies: [{name: b}]\n";
        assert_eq!(metadata(chart, requirements).unwrap_err(), expected);
    }
}
