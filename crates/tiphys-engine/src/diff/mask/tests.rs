use serde_json::{Value, json};

use super::shown;
use crate::Manifest;
use crate::manifest::tests::manifest;

fn secret(fields: Value) -> Manifest {
    let mut object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
        object.extend(fields);
    }
    manifest(object)
}

/// Returns both sides after redaction, without the fields that all Secrets of these tests have.
fn redacted(before: Value, after: Value) -> (Value, Value) {
    let (before, after) = shown(Some(&secret(before)), Some(&secret(after)));
    let rest = |side: Option<super::Shown>| {
        let mut value = side.expect("a side").value().clone();
        let object = value.as_object_mut().expect("an object");
        for field in ["apiVersion", "kind"] {
            object.remove(field);
        }
        if object["metadata"] == json!({"name": "a"}) {
            object.remove("metadata");
        }
        value
    };
    (rest(before), rest(after))
}

#[test]
fn masks_reveal_only_equality() {
    let (first, second) = ("++++++++", "+++++++++");
    let cases = [
        (
            "equal",
            json!({"data": {"k": "YQ=="}}),
            json!({"data": {"k": "YQ=="}}),
            json!({"data": {"k": first}}),
            json!({"data": {"k": first}}),
        ),
        (
            "a misspelled field",
            json!({"stringdata": {"k": "a"}, "type": "Opaque"}),
            json!({"stringdata": {"k": "b"}, "type": "Opaque"}),
            json!({"stringdata": first, "type": "Opaque"}),
            json!({"stringdata": second, "type": "Opaque"}),
        ),
        (
            "different",
            json!({"data": {"k": "YQ=="}}),
            json!({"data": {"k": "Yg=="}}),
            json!({"data": {"k": first}}),
            json!({"data": {"k": second}}),
        ),
        (
            "another length",
            json!({"data": {"k": "YQ=="}}),
            json!({"data": {"k": "YWFhYWFhYWFhYWFh"}}),
            json!({"data": {"k": first}}),
            json!({"data": {"k": second}}),
        ),
        (
            "only on one side",
            json!({"data": {}}),
            json!({"data": {"k": "YQ=="}}),
            json!({"data": {}}),
            json!({"data": {"k": first}}),
        ),
        (
            "equal values of different keys",
            json!({"data": {"k": "YQ=="}}),
            json!({"data": {"l": "YQ=="}}),
            json!({"data": {"k": first}}),
            json!({"data": {"l": first}}),
        ),
        (
            "in stringData and in data",
            json!({"data": {"k": "YQ=="}}),
            json!({"stringData": {"k": "a"}}),
            json!({"data": {"k": first}}),
            json!({"stringData": {"k": first}}),
        ),
        (
            "wrapped base64",
            json!({"data": {"k": "YWFh\nYWFh\n"}}),
            json!({"data": {"k": "YWFhYWFh"}}),
            json!({"data": {"k": first}}),
            json!({"data": {"k": first}}),
        ),
        (
            "invalid base64",
            json!({"data": {"k": "?"}}),
            json!({"data": {"k": 5}}),
            json!({"data": {"k": first}}),
            json!({"data": {"k": second}}),
        ),
        (
            "not an object",
            json!({"data": "hunter2"}),
            json!({"data": ["hunter2"]}),
            json!({"data": first}),
            json!({"data": second}),
        ),
        (
            "null",
            json!({"data": null}),
            json!({"data": {"k": null}}),
            json!({"data": null}),
            json!({"data": {"k": first}}),
        ),
        (
            "type and immutability are shown",
            json!({"type": "Opaque"}),
            json!({"immutable": true}),
            json!({"type": "Opaque"}),
            json!({"immutable": true}),
        ),
    ];
    for (what, before, after, expected_before, expected_after) in cases {
        assert_eq!(redacted(before, after), (expected_before, expected_after), "{what}");
    }
}

#[test]
fn last_applied_annotation_of_secret_is_redacted() {
    let annotated = |applied: &str| json!({"metadata": {"name": "a", "annotations": {"x": "y", "kubectl.kubernetes.io/last-applied-configuration": applied}}});
    let before = annotated("{\"data\":{\"k\":\"aHVudGVyMg==\"}}");
    let (before, after) = redacted(before, annotated("{}"));
    assert_eq!(before, annotated("++++++++"));
    assert_eq!(after, annotated("+++++++++"));
}

#[test]
fn only_core_secrets_are_redacted() {
    for (api_version, kind) in [("v1", "ConfigMap"), ("example.com/v1", "Secret")] {
        let object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "data": {"k": "v"}});
        let (before, _) = shown(Some(&manifest(object.clone())), None);
        assert_eq!(before.expect("a side").value(), &object);
    }
}
