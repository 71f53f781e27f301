use serde_json::{Value, json};

use super::shown;
use crate::Manifest;

fn manifest(value: Value) -> Manifest {
    match value {
        Value::Object(object) => Manifest::new(object),
        other => panic!("no object: {other}"),
    }
}

fn secret(fields: Value) -> Manifest {
    let mut object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
        object.extend(fields);
    }
    manifest(object)
}

/// The fields beside those that every Secret of these tests has.
fn masked(before: Value, after: Value) -> (Value, Value) {
    let (before, after) = shown(Some(&secret(before)), Some(&secret(after)));
    let rest = |side: Option<super::Shown>| {
        let mut value = side.expect("there is a side").value().clone();
        let object = value.as_object_mut().expect("it is an object");
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
fn masks_show_equality_and_nothing_else() {
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
            "a field that is written otherwise",
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
            "equal values of different keys say nothing",
            json!({"data": {"k": "YQ=="}}),
            json!({"data": {"l": "YQ=="}}),
            json!({"data": {"k": first}}),
            json!({"data": {"l": first}}),
        ),
        (
            "as text and as bytes",
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
            "no base64",
            json!({"data": {"k": "?"}}),
            json!({"data": {"k": 5}}),
            json!({"data": {"k": first}}),
            json!({"data": {"k": second}}),
        ),
        (
            "no object",
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
        assert_eq!(masked(before, after), (expected_before, expected_after), "{what}");
    }
}

#[test]
fn what_kubectl_keeps_of_a_secret_is_masked_too() {
    let annotated = |applied: &str| json!({"metadata": {"name": "a", "annotations": {"x": "y", "kubectl.kubernetes.io/last-applied-configuration": applied}}});
    let before = annotated("{\"data\":{\"k\":\"aHVudGVyMg==\"}}");
    let (before, after) = masked(before, annotated("{}"));
    assert_eq!(before, annotated("++++++++"));
    assert_eq!(after, annotated("+++++++++"));
}

#[test]
fn only_secrets_of_kubernetes_are_masked() {
    for (api_version, kind) in [("v1", "ConfigMap"), ("example.com/v1", "Secret")] {
        let object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "data": {"k": "v"}});
        let (before, _) = shown(Some(&manifest(object.clone())), None);
        assert_eq!(before.expect("there is a side").value(), &object);
    }
}
