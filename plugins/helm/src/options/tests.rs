//! Decoding of parameters.

use tiphys_model::params::Parameter;

use tiphys_model::access::CredentialReach;

use super::{Assignment, AssignmentKind, ExactValue, HelmOptions, InlineValues, Missing, NAMES, Step};

fn decode(json: &str) -> Result<HelmOptions, String> {
    let parameters: Vec<Parameter> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    HelmOptions::decode(&parameters).map_err(|error| error.to_string())
}

fn value(kind: AssignmentKind, name: &str, value: &str) -> Assignment {
    Assignment { kind, name: name.to_owned(), value: value.to_owned() }
}

#[test]
fn every_parameter_sets_its_option() {
    let options = decode(
        r#"[{"name":"release-name","string":"r"},{"name":"namespace","string":"n"},{"name":"kube-version","string":"1.30"},
            {"name":"api-versions","array":["v1","a/v1"]},{"name":"value-files","array":["a.yaml"]},
            {"name":"ignore-missing-value-files","string":"true"},{"name":"values","string":"a: 1\n"},
            {"name":"set.a","string":"1"},{"name":"set-string.a","string":"2"},{"name":"set-file.a","string":"f"},
            {"name":"value.b","string":"true"},
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
        exact_values: vec![ExactValue::parse("b", "true").unwrap()],
        crds: Step::Skip,
        tests: Step::Skip,
        schema_validation: Step::Skip,
        credentials: CredentialReach::EveryServer,
        version: "v3".into(),
        kustomize_dir: "overlay".into(),
    };
    assert_eq!(options, Ok(expected));
}

#[test]
fn unknown_parameter_is_rejected_with_a_suggestion() {
    assert_eq!(
        decode(r#"[{"name":"skip-crd","string":"true"}]"#),
        Err("parameter skip-crd is unknown; did you mean skip-crds?".into())
    );
    let error = decode(r#"[{"name":"replicas","string":"3"}]"#).unwrap_err();
    assert_eq!(
        error,
        format!(
            "parameter replicas is unknown; the parameters are {}, and set.NAME, set-string.NAME, set-file.NAME and value.NAME for values",
            NAMES.join(", ")
        )
    );
}

#[test]
fn value_of_wrong_type_is_rejected() {
    let cases = [
        (
            r#"{"name":"value-files","string":"a.yaml"}"#,
            "parameter value-files: expected the value in the field array, found string",
        ),
        (
            r#"{"name":"api-versions","map":{}}"#,
            "parameter api-versions: expected the value in the field array, found map",
        ),
        (
            r#"{"name":"release-name","array":["a"]}"#,
            "parameter release-name: expected the value in the field string, found array",
        ),
        (
            r#"{"name":"set.a","map":{"b":"c"}}"#,
            "parameter set.a: expected the value in the field string, found map",
        ),
        (
            r#"{"name":"skip-crds","string":"True"}"#,
            "parameter skip-crds: expected true or false, found \"True\"",
        ),
        (r#"{"name":"values-object","string":"[1]"}"#, "parameter values-object: expected a JSON object"),
        (r#"{"name":"values-object","string":"{"}"#, "parameter values-object: expected a JSON object"),
    ];
    for (parameter, expected) in cases {
        assert_eq!(decode(&format!("[{parameter}]")), Err(expected.into()), "{parameter}");
    }
}

#[test]
fn values_object_overrides_values() {
    let cases = [
        (
            r#"[{"name":"values","string":"a: 1"},{"name":"values-object","string":"{\"a\":2}"}]"#,
            Some(InlineValues::Json(r#"{"a":2}"#.into())),
        ),
        (
            r#"[{"name":"values","string":"a: 1"},{"name":"values-object","string":"{}"}]"#,
            Some(InlineValues::Json("{}".into())),
        ),
        // A surrogate pair is a valid escape in JSON, not in YAML.
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
fn last_assignment_of_a_name_and_kind_wins_in_place() {
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
