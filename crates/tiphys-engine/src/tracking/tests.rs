use serde_json::{Value, json};

use super::{Tracking, TrackingMethod, instance_name};
use crate::Manifest;

fn track(object: Value, method: TrackingMethod, change: impl Fn(&mut Tracking)) -> Value {
    let mut tracking = Tracking {
        method,
        label_key: "app.kubernetes.io/instance".to_owned(),
        instance_name: "web".to_owned(),
        namespace: "ns".to_owned(),
        installation_id: String::new(),
    };
    change(&mut tracking);
    let Value::Object(object) = object else { panic!("an object") };
    let mut manifest = Manifest::new(object);
    tracking.mark(&mut manifest).expect("a trackable object");
    manifest.into_value()
}

#[test]
fn tracking_method_selects_annotation_or_label() {
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}});
    let annotation = json!({"argocd.argoproj.io/tracking-id": "web:apps/Deployment:ns/d"});
    let label = json!({"app.kubernetes.io/instance": "web"});
    let cases = [
        (TrackingMethod::Annotation, json!({"name": "d", "annotations": annotation})),
        (TrackingMethod::Label, json!({"name": "d", "labels": label})),
        (
            TrackingMethod::AnnotationAndLabel,
            json!({"name": "d", "annotations": annotation, "labels": label}),
        ),
        (TrackingMethod::None, json!({"name": "d"})),
    ];
    for (method, metadata) in cases {
        assert_eq!(track(object.clone(), method, |_| {})["metadata"], metadata, "{method}");
    }
}

#[test]
fn crds_and_unnamed_applications_are_not_tracked() {
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"}});
    assert_eq!(track(crd.clone(), TrackingMethod::AnnotationAndLabel, |_| {}), crd);
    let object = json!({"kind": "A", "metadata": {"name": "x"}});
    let found = track(object.clone(), TrackingMethod::Annotation, |tracking| tracking.instance_name.clear());
    assert_eq!(found, object);
}

#[test]
fn namespace_of_object_wins_over_destination() {
    let object = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "x", "namespace": "own"}});
    let found = track(object, TrackingMethod::Annotation, |_| {});
    assert_eq!(found["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"], "web:/A:own/x");
}

#[test]
fn installation_id_is_set_or_removed() {
    let object = json!({"kind": "A", "metadata": {"annotations": {"argocd.argoproj.io/installation-id": "old", "k": "v"}}});
    let found = track(object.clone(), TrackingMethod::Annotation, |_| {});
    let id = "web:/A:ns/";
    assert_eq!(found["metadata"]["annotations"], json!({"argocd.argoproj.io/tracking-id": id, "k": "v"}));
    let found = track(object, TrackingMethod::Annotation, |tracking| {
        "new".clone_into(&mut tracking.installation_id);
    });
    assert_eq!(
        found["metadata"]["annotations"],
        json!({"argocd.argoproj.io/installation-id": "new", "argocd.argoproj.io/tracking-id": id, "k": "v"})
    );
}

#[test]
fn label_is_shortened_only_with_annotation_and_label() {
    let object = json!({"kind": "A"});
    let name = format!("{}-{}", "a".repeat(62), "b".repeat(10));
    let label = |method| {
        let found = track(object.clone(), method, |tracking| tracking.instance_name.clone_from(&name));
        found["metadata"]["labels"]["app.kubernetes.io/instance"].as_str().expect("a label").to_owned()
    };
    assert_eq!(label(TrackingMethod::AnnotationAndLabel), "a".repeat(62));
    assert_eq!(label(TrackingMethod::Label), name);
}

#[test]
fn legacy_label_is_set_on_pod_templates() {
    let key = "applications.argoproj.io/app-name";
    for (api_version, kind, templated) in
        [("apps/v1", "Deployment", true), ("batch/v1", "Job", true), ("batch/v1", "CronJob", false)]
    {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "d"}, "spec": {}});
        let found = track(object, TrackingMethod::Label, |tracking| key.clone_into(&mut tracking.label_key));
        let pointer = format!("/spec/template/metadata/labels/{}", key.replace('/', "~1"));
        assert_eq!(found.pointer(&pointer).is_some(), templated, "{kind}");
        assert_eq!(found["metadata"]["labels"][key], "web");
    }
}

#[test]
fn instance_name_has_namespace_outside_control_plane() {
    let cases = [("", "web"), ("argocd", "web"), ("team", "team_web")];
    for (namespace, expected) in cases {
        assert_eq!(instance_name(namespace, "web", "argocd"), expected);
    }
}

#[test]
fn tracking_methods_are_parsed_exactly() {
    for method in ["annotation", "label", "annotation+label", "none"] {
        assert_eq!(method.parse::<TrackingMethod>().map(|method| method.to_string()).as_deref(), Ok(method));
    }
    let error = "Annotation".parse::<TrackingMethod>().expect_err("method names are lower-case");
    assert_eq!(
        error.to_string(),
        "\"Annotation\" is not a tracking method; use annotation, label, annotation+label or none"
    );
}
