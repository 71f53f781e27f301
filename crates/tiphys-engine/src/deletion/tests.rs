use serde_json::{Value, json};

use super::Deletion;
use crate::Manifest;

#[test]
fn finalizers_of_all_propagation_policies_cascade() {
    for (finalizers, expected) in [
        ("[resources-finalizer.argocd.argoproj.io]", Deletion::Cascading),
        ("[other, resources-finalizer.argocd.argoproj.io/background]", Deletion::Cascading),
        ("[resources-finalizer.argocd.argoproj.io/foreground]", Deletion::Cascading),
        ("[resources-finalizer.argocd.argoproj.io/other]", Deletion::NonCascading),
        ("[post-delete-finalizer.argocd.argoproj.io]", Deletion::NonCascading),
        ("null", Deletion::NonCascading),
    ] {
        let document = format!("metadata: {{name: a, finalizers: {finalizers}}}");
        let node = tiphys_yaml::read_document(document.as_bytes()).expect("YAML").expect("a document");
        assert_eq!(Deletion::of(&node), expected, "{finalizers}");
    }
}

#[test]
fn definitions_and_annotated_objects_survive() {
    for (object, survives) in [
        (json!({"apiVersion": "v1", "kind": "Service"}), false),
        (json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}), true),
        (annotated("argocd.argoproj.io/sync-options", "Prune=false, Delete=false"), true),
        (annotated("argocd.argoproj.io/sync-options", "Prune=false"), false),
        (annotated("helm.sh/resource-policy", "keep"), true),
    ] {
        let Value::Object(map) = &object else { panic!("{object}") };
        assert_eq!(Manifest::new(map.clone()).survives_deletion(), survives, "{object}");
    }
}

fn annotated(key: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"annotations": {key: value}}})
}
