use serde_json::{Value, json};

use super::{LivePair, compare_live};
use crate::Manifest;
use crate::diff::{Change, Comparison};

fn manifest(value: Value) -> Manifest {
    match value {
        Value::Object(object) => Manifest::new(object),
        other => panic!("no object: {other}"),
    }
}

fn compared(rendered: Value, live: Value) -> Comparison {
    compare_live(&[LivePair { rendered: manifest(rendered), live: Some(manifest(live)) }], &[])
}

#[test]
fn what_only_the_server_sets_does_not_count() {
    let rendered = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "creationTimestamp": null}, "status": {}});
    let live = json!({"apiVersion": "v1", "kind": "X", "status": {"ready": true}, "metadata": {
        "name": "a", "creationTimestamp": "2026-01-02T03:04:05Z", "uid": "1", "resourceVersion": "2", "generation": 3,
        "selfLink": "/x", "managedFields": [], "labels": {"set": "by another"}
    }});
    assert_eq!(compared(rendered, live), Comparison { objects: Vec::new(), equal: 1 });
}

#[test]
fn a_live_field_counts_if_it_was_applied_and_is_not_rendered_any_more() {
    let applied = r#"{"spec": {"a": 1, "b": 2}}"#;
    let live = json!({"kind": "X", "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied}},
        "spec": {"a": 1, "b": 2, "c": 3}});
    let comparison = compared(json!({"kind": "X", "spec": {"a": 1}}), live);
    let Change::Changed { before, .. } = &comparison.objects[0].change else { panic!("{comparison:?}") };
    assert_eq!(before.value(), &json!({"kind": "X", "spec": {"a": 1, "b": 2}}));
}
