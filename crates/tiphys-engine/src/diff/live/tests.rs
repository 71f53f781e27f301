use serde_json::{Value, json};
use tiphys_model::resources::IgnoreDifference;

use super::{LiveComparison, LivePair, LiveRules, compare_live, possible_namespaces};
use crate::diff::{Change, Ignored};
use crate::manifest::tests::manifest;
use crate::{Manifest, Ownership, Scopes, TrackingMethod};

/// Compares for the application `shop`, ignoring these pointers in every object.
fn compared(pairs: &[(Value, Option<Value>)], removable: &[Value], pointers: &[&str]) -> LiveComparison {
    let pairs: Vec<LivePair> = pairs
        .iter()
        .map(|(rendered, live)| LivePair {
            rendered: manifest(rendered.clone()),
            live: live.clone().map(manifest),
        })
        .collect();
    let removable: Vec<Manifest> = removable.iter().cloned().map(manifest).collect();
    let entry = IgnoreDifference {
        group: "*".to_owned(),
        kind: "*".to_owned(),
        json_pointers: pointers.iter().map(|&pointer| pointer.to_owned()).collect(),
        ..IgnoreDifference::default()
    };
    let ignored = Ignored::new(&[entry], &|_| Err(String::new())).expect("valid pointers");
    let ownership = Ownership {
        method: TrackingMethod::Annotation,
        label_key: String::new(),
        installation_id: String::new(),
    };
    compare_live(
        &pairs,
        &removable,
        &LiveRules { application: "shop", ignored: &ignored, ownership: &ownership },
    )
}

/// Returns both sides of the only difference.
fn sides(found: &LiveComparison) -> (Option<&Value>, Option<&Value>) {
    let [object] = found.comparison.objects.as_slice() else { panic!("{found:?}") };
    (
        object.change.before().map(super::super::Shown::value),
        object.change.after().map(super::super::Shown::value),
    )
}

fn applied(object: &Value) -> Value {
    json!({"kubectl.kubernetes.io/last-applied-configuration": object.to_string()})
}

#[test]
fn fields_in_the_annotation_of_the_rendered_object_are_not_compared() {
    let annotations =
        json!({"argocd.argoproj.io/ignore-differences": "jsonPointers: [/spec/x, /spec/list/0]"});
    let object = |annotations: &Value, x: i64| {
        json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "annotations": annotations},
            "spec": {"x": x, "list": [x, 1]}})
    };
    let differs = |rendered: Value, live: Value| {
        !compared(&[(rendered, Some(live))], &[], &[]).comparison.objects.is_empty()
    };
    assert!(!differs(object(&annotations, 1), object(&annotations, 2)));
    assert!(differs(object(&annotations, 1), object(&json!({}), 1)), "the annotation itself is compared");
    assert!(
        differs(object(&json!({}), 1), object(&annotations, 2)),
        "that of the live object does not count"
    );
    let applied_before = |annotations: &Value| {
        let mut live = object(annotations, 2);
        live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
            Value::from(object(annotations, 3).to_string());
        live
    };
    let mut without = object(&annotations, 1);
    without["spec"].as_object_mut().and_then(|spec| spec.remove("x"));
    assert!(!differs(without, applied_before(&annotations)));
}

#[test]
fn server_set_fields_are_not_compared() {
    let rendered = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "creationTimestamp": null}, "status": {"ready": false}});
    let live = json!({"apiVersion": "v1", "kind": "X", "status": {"ready": true}, "metadata": {
        "name": "a", "creationTimestamp": "2026-01-02T03:04:05Z", "uid": "1", "resourceVersion": "2", "generation": 3,
        "selfLink": "/x", "managedFields": [], "labels": {"set": "by another"}
    }});
    let found = compared(&[(rendered, Some(live))], &[], &[]);
    assert_eq!((found.comparison.equal, found.comparison.objects.len()), (1, 0));
    assert_eq!((found.left_out, found.warnings), (Vec::new(), Vec::new()));
}

#[test]
fn applied_field_that_is_not_rendered_is_a_difference() {
    let annotations = applied(&json!({"spec": {"a": 1, "b": 2}, "status": {"x": 1}}));
    let live = json!({"kind": "X", "metadata": {"name": "a", "annotations": annotations}, "spec": {"a": 1, "b": 2, "c": 3}});
    let rendered = json!({"kind": "X", "metadata": {"name": "a"}, "spec": {"a": 1}});
    let found = compared(&[(rendered.clone(), Some(live))], &[], &[]);
    let before = json!({"kind": "X", "metadata": {"name": "a"}, "spec": {"a": 1, "b": 2}});
    assert_eq!(sides(&found), (Some(&before), Some(&rendered)));
}

#[test]
fn invalid_last_applied_annotation_is_ignored() {
    for annotation in [json!("{"), json!("[]"), json!(1)] {
        let annotations = json!({"kubectl.kubernetes.io/last-applied-configuration": annotation});
        let live =
            json!({"kind": "X", "metadata": {"name": "a", "annotations": annotations}, "spec": {"a": 1}});
        let rendered = json!({"kind": "X", "metadata": {"name": "a"}});
        assert_eq!(compared(&[(rendered, Some(live))], &[], &[]).comparison.equal, 1);
    }
}

#[test]
fn ignored_fields_are_not_compared() {
    let object = |replicas: u32, image: &str| json!({"kind": "X", "metadata": {"name": "a"}, "spec": {"replicas": replicas, "image": image}});
    let found = compared(&[(object(1, "a"), Some(object(5, "a")))], &[], &["/spec/replicas"]);
    assert_eq!(found.comparison.equal, 1);
    let found = compared(&[(object(1, "a"), Some(object(5, "b")))], &[], &["/spec/replicas"]);
    let (before, after) = sides(&found);
    let without = |side: Option<&Value>| side.and_then(|value| value.pointer("/spec").cloned());
    assert_eq!((without(before), without(after)), (Some(json!({"image": "b"})), Some(json!({"image": "a"}))));
    let annotations = applied(&object(5, "a"));
    let mut live = object(5, "a");
    live["metadata"]["annotations"] = annotations;
    let found = compared(
        &[(json!({"kind": "X", "metadata": {"name": "a"}, "spec": {"image": "a"}}), Some(live))],
        &[],
        &["/spec/replicas"],
    );
    assert_eq!(found.comparison.equal, 1, "ignored in the last applied configuration too");
}

#[test]
fn secrets_are_compared_by_bytes_and_redacted() {
    let secret = |fields: Value| {
        let mut object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
        if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
            object.extend(fields);
        }
        object
    };
    let live = secret(json!({"data": {"k": "aHVudGVyMg=="}, "type": "Opaque"}));
    let found = compared(&[(secret(json!({"stringData": {"k": "hunter2"}})), Some(live.clone()))], &[], &[]);
    assert_eq!(found.comparison.equal, 1);
    let mut with_applied = live;
    with_applied["data"]["l"] = json!("aHVudGVyMg==");
    with_applied["metadata"]["annotations"] =
        applied(&secret(json!({"stringData": {"k": "hunter2", "l": "hunter2"}, "type": "Opaque"})));
    let rendered = secret(json!({"stringData": {"k": "hunter3"}}));
    let found = compared(&[(rendered, Some(with_applied))], &[], &[]);
    let shown =
        |data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": data});
    let mut before = shown(json!({"k": "++++++++", "l": "++++++++"}));
    before["type"] = json!("Opaque");
    assert_eq!(sides(&found), (Some(&before), Some(&shown(json!({"k": "+++++++++"})))));
}

#[test]
fn missing_objects_are_added_and_unrendered_ones_removed() {
    let named = |name: &str| {
        let annotations = applied(&json!({}));
        json!({"kind": "X", "metadata": {"name": name, "uid": "1", "annotations": annotations}, "status": {"ready": true}})
    };
    let found = compared(
        &[(named("new"), None), (named("kept"), Some(named("kept")))],
        &[named("gone"), named("kept")],
        &[],
    );
    let words: Vec<String> = found
        .comparison
        .objects
        .iter()
        .map(|object| format!("{} {}", object.change.word(), object.key))
        .collect();
    assert_eq!(words, ["added X new", "removed X gone"]);
    let Change::Removed { before } = &found.comparison.objects[1].change else { panic!("{found:?}") };
    assert_eq!(before.value(), &json!({"kind": "X", "metadata": {"name": "gone"}}));
}

#[test]
fn hooks_and_unpruned_objects_are_left_out_with_reason() {
    let annotated = |name: &str, key: &str, value: &str| json!({"kind": "X", "metadata": {"name": name, "annotations": {key: value}}});
    let found = compared(
        &[
            (annotated("hook", "argocd.argoproj.io/hook", "Sync"), None),
            (json!({"kind": "X", "metadata": {"generateName": "job-"}}), None),
        ],
        &[
            annotated("hook", "argocd.argoproj.io/hook", "Sync"),
            annotated("kept", "argocd.argoproj.io/sync-options", "Prune=false"),
            annotated("extra", "argocd.argoproj.io/compare-options", "IgnoreExtraneous"),
        ],
        &[],
    );
    let messages: Vec<String> = found.left_out.iter().map(ToString::to_string).collect();
    let expected = [
        "X hook is a hook",
        "X job-* has no name of its own",
        "X kept is not rendered, but has Prune=false",
        "X extra is not rendered, but has IgnoreExtraneous",
    ];
    assert_eq!(messages, expected);
    assert!(found.comparison.objects.is_empty(), "{found:?}");
}

#[test]
fn other_owner_or_api_version_is_warned_about() {
    let object = |version: &str, application: &str| {
        let id = format!("{application}:apps/X:web/a");
        json!({"apiVersion": version, "kind": "X", "metadata": {"name": "a", "namespace": "web", "annotations": {"argocd.argoproj.io/tracking-id": id}}})
    };
    let own = compared(&[(object("apps/v1", "shop"), Some(object("apps/v1", "shop")))], &[], &[]);
    assert_eq!((own.warnings, own.comparison.equal), (Vec::new(), 1));
    let found = compared(&[(object("apps/v1", "shop"), Some(object("apps/v1beta1", "other")))], &[], &[]);
    let messages: Vec<&str> = found.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let expected = [
        "X.apps web/a is tracked by another application, other",
        "X.apps web/a is live as apps/v1beta1 and rendered as apps/v1: fields that the versions call differently differ",
    ];
    assert_eq!(messages, expected);
    assert_eq!(sides(&found).0.and_then(|before| before.get("apiVersion")), Some(&json!("apps/v1")));
}

#[test]
fn last_of_duplicate_rendered_objects_is_compared() {
    let object = |value: &str| json!({"kind": "X", "metadata": {"name": "a"}, "spec": value});
    let found = compared(&[(object("1"), Some(object("2"))), (object("2"), Some(object("2")))], &[], &[]);
    assert_eq!(found.comparison.counts(), crate::diff::Counts { equal: 1, ..Default::default() });
    let messages: Vec<&str> = found.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(messages, ["X a is rendered more than once; the last one counts"]);
}

#[test]
fn possible_namespaces_depend_on_scope() {
    let definition =
        manifest(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "names": {"kind": "Wide"}, "scope": "Cluster"}}));
    let scopes = Scopes::of([&definition]);
    let cases = [
        ("apps/v1", "Deployment", "", "shop", &["shop"][..]),
        ("apps/v1", "Deployment", "own", "shop", &["own"]),
        ("v1", "Namespace", "own", "shop", &[""]),
        ("example.com/v1", "Wide", "", "shop", &[""]),
        ("example.com/v1", "Unknown", "", "shop", &["shop", ""]),
        ("example.com/v1", "Unknown", "own", "shop", &["own", ""]),
        ("example.com/v1", "Unknown", "", "", &[""]),
    ];
    for (api_version, kind, namespace, destination, expected) in cases {
        let object = manifest(json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}}));
        let object = object.in_namespace(namespace);
        assert_eq!(possible_namespaces(&object, destination, &scopes), expected, "{kind} {namespace:?}");
    }
}
