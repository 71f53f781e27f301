//! Parameters as people write them, and what is made of them.

use tiphys_params::Parameter;

use tiphys_access::CredentialReach;

use super::{Assignment, AssignmentKind, HelmOptions, InlineValues, Missing, NAMES, Part};

fn decode(json: &str) -> Result<HelmOptions, String> {
    let parameters: Vec<Parameter> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    HelmOptions::decode(&parameters).map_err(|error| error.to_string())
}

fn value(kind: AssignmentKind, name: &str, value: &str) -> Assignment {
    Assignment { kind, name: name.to_owned(), value: value.to_owned() }
}

#[test]
fn every_parameter_has_its_option() {
    let options = decode(
        r#"[{"name":"release-name","string":"r"},{"name":"namespace","string":"n"},{"name":"kube-version","string":"1.30"},
            {"name":"api-versions","array":["v1","a/v1"]},{"name":"value-files","array":["a.yaml"]},
            {"name":"ignore-missing-value-files","string":"true"},{"name":"values","string":"a: 1\n"},
            {"name":"set.a","string":"1"},{"name":"set-string.a","string":"2"},{"name":"set-file.a","string":"f"},
            {"name":"skip-crds","string":"true"},{"name":"skip-tests","string":"true"},
            {"name":"skip-schema-validation","string":"true"},{"name":"pass-credentials","string":"true"},
            {"name":"version","string":"v3"},{"name":"kustomize-dir","string":"overlay"}]"#,
    );
    let expected = HelmOptions {
        release_name: "r".into(),
        namespace: "n".into(),
        kube_version: "1.30".into(),
        api_versions: vec!["v1".into(), "a/v1".into()],
        value_files: vec!["a.yaml".into()],
        missing_value_files: Missing::LeaveOut,
        values: Some(InlineValues::Yaml("a: 1\n".into())),
        assignments: vec![
            value(AssignmentKind::Value, "a", "1"),
            value(AssignmentKind::Text, "a", "2"),
            value(AssignmentKind::File, "a", "f"),
        ],
        crds: Part::Skip,
        tests: Part::Skip,
        schema_validation: Part::Skip,
        credentials: CredentialReach::EveryServer,
        version: "v3".into(),
        kustomize_dir: "overlay".into(),
    };
    assert_eq!(options, Ok(expected));
}

#[test]
fn an_unknown_parameter_is_refused_with_a_near_name() {
    assert_eq!(
        decode(r#"[{"name":"skip-crd","string":"true"}]"#),
        Err("parameter skip-crd is unknown; did you mean skip-crds?".into())
    );
    let error = decode(r#"[{"name":"replicas","string":"3"}]"#).unwrap_err();
    assert_eq!(
        error,
        format!(
            "parameter replicas is unknown; the parameters are {}, and set.NAME, set-string.NAME and set-file.NAME for values",
            NAMES.join(", ")
        )
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_by_name() {
    let cases = [
        (
            r#"{"name":"value-files","string":"a.yaml"}"#,
            "parameter value-files: the value is due in the field array, not string",
        ),
        (
            r#"{"name":"api-versions","map":{}}"#,
            "parameter api-versions: the value is due in the field array, not map",
        ),
        (
            r#"{"name":"release-name","array":["a"]}"#,
            "parameter release-name: the value is due in the field string, not array",
        ),
        (
            r#"{"name":"set.a","map":{"b":"c"}}"#,
            "parameter set.a: the value is due in the field string, not map",
        ),
        (
            r#"{"name":"skip-crds","string":"True"}"#,
            "parameter skip-crds: true or false is expected, not \"True\"",
        ),
        (r#"{"name":"values-object","string":"[1]"}"#, "parameter values-object: a JSON object is expected"),
        (r#"{"name":"values-object","string":"{"}"#, "parameter values-object: a JSON object is expected"),
    ];
    for (parameter, expected) in cases {
        assert_eq!(decode(&format!("[{parameter}]")), Err(expected.into()), "{parameter}");
    }
}

#[test]
fn structured_values_beat_the_text() {
    let cases = [
        (
            r#"[{"name":"values","string":"a: 1"},{"name":"values-object","string":"{\"a\":2}"}]"#,
            Some(InlineValues::Json(r#"{"a":2}"#.into())),
        ),
        (
            r#"[{"name":"values","string":"a: 1"},{"name":"values-object","string":"{}"}]"#,
            Some(InlineValues::Json("{}".into())),
        ),
        // Half a character is an escape of JSON, and none of YAML.
        (
            r#"[{"name":"values-object","string":"{\"a\": \"\\ud83d\\ude00\"}"}]"#,
            Some(InlineValues::Json(r#"{"a":"😀"}"#.into())),
        ),
        (
            r#"[{"name":"values","string":"a: 1"},{"name":"values-object","string":"null"}]"#,
            Some(InlineValues::Yaml("a: 1".into())),
        ),
        (r#"[{"name":"values","string":""},{"name":"values-object","string":""}]"#, None),
    ];
    for (parameters, expected) in cases {
        assert_eq!(decode(parameters).unwrap().values, expected, "{parameters}");
    }
}

#[test]
fn of_two_values_with_one_name_the_later_one_counts_per_kind_at_its_place() {
    let options = decode(
        r#"[{"name":"set.a","string":"1"},{"name":"set.b","string":"2"},{"name":"set-string.a","string":"3"},
            {"name":"set.a","string":"4"},{"name":"set.c"}]"#,
    );
    let expected = [
        value(AssignmentKind::Value, "b", "2"),
        value(AssignmentKind::Text, "a", "3"),
        value(AssignmentKind::Value, "a", "4"),
    ];
    assert_eq!(options.unwrap().assignments, expected);
}
