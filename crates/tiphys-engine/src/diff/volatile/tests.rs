use serde_json::{Value, json};

use crate::diff::compare;
use crate::manifest::tests::manifest;

/// Sets the given fields of a value.
fn set(value: &mut Value, fields: &Value) {
    let Value::Object(fields) = fields else {
        *value = fields.clone();
        return;
    };
    for (key, field) in fields {
        set(&mut value[key], field);
    }
}

#[test]
fn changes_of_versions_and_checksums_alone_are_volatile() {
    let before = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "labels": {"app": "a", "helm.sh/chart": "a-1"}},
        "spec": {"replicas": 1, "template": {"metadata": {"annotations": {"checksum/config": "1"}}}},
    });
    let template =
        |annotations: Value| json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
    let labels = |labels: Value| json!({"metadata": {"labels": labels}});
    let cases = [
        (labels(json!({"helm.sh/chart": "a-2"})), true),
        (labels(json!({"helm.sh/chart": "a-2", "app.kubernetes.io/version": "2"})), true),
        (template(json!({"checksum/config": "2"})), true),
        (json!({"metadata": {"annotations": {"checksum/secret": "2"}}}), true),
        (labels(json!({"app": "b"})), false),
        (labels(json!({"helm.sh/chart": "a-2", "app": "b"})), false),
        (labels(json!({"checksum/config": "2"})), false),
        (template(json!({"helm.sh/chart": "a-2"})), false),
        (json!({"spec": {"selector": {"matchLabels": {"helm.sh/chart": "a-2"}}}}), false),
        (json!({"spec": {"labels": {"helm.sh/chart": "a-2"}}}), false),
    ];
    for (changes, expected) in cases {
        let mut after = before.clone();
        set(&mut after, &changes);
        let comparison = compare(&[manifest(before.clone())], &[manifest(after)]);
        assert_eq!(comparison.objects[0].change.is_volatile(), expected, "{changes}");
    }
    let added = compare(&[], &[manifest(before)]);
    assert!(!added.objects[0].change.is_volatile());
}
