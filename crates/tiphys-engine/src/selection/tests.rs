use serde_json::{Value, json};

use super::{combine, nothing_rendered, skip_secrets};
use crate::Manifest;

fn manifest(kind: &str, namespace: &str, name: &str, note: &str) -> Manifest {
    let mut metadata = serde_json::Map::new();
    for (key, value) in [("namespace", namespace), ("name", name), ("note", note)] {
        if !value.is_empty() {
            metadata.insert(key.to_owned(), value.into());
        }
    }
    let object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
    Manifest::new(object.as_object().expect("an object").clone())
}

fn notes(manifests: &[Manifest]) -> Vec<&str> {
    manifests
        .iter()
        .map(|m| m.object()["metadata"].get("note").and_then(Value::as_str).unwrap_or_default())
        .collect()
}

#[test]
fn last_source_of_a_repeated_object_wins() {
    let first = vec![
        manifest("ConfigMap", "", "a", "1"),
        manifest("ConfigMap", "", "b", "2"),
        manifest("Namespace", "", "n", "3"),
        manifest("ConfigMap", "other", "a", "4"),
    ];
    let second = vec![
        manifest("ConfigMap", "ns", "a", "5"),
        manifest("Namespace", "ns", "n", "6"),
        manifest("Secret", "", "b", "7"),
    ];
    let (kept, warnings) = combine(vec![first, second], "ns");
    assert_eq!(notes(&kept), ["2", "4", "5", "6", "7"]);
    let messages: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "Resource /ConfigMap/ns/a appeared 2 times among application resources, in sources 1, 2; the last one is used",
            "Resource /Namespace//n appeared 2 times among application resources, in sources 1, 2; the last one is used",
        ]
    );
}

#[test]
fn duplicates_in_one_source_stay_with_a_warning() {
    let mut deployment = manifest("Deployment", "", "d", "3").object().clone();
    deployment.insert("apiVersion".to_owned(), "apps/v1".into());
    let deployment = Manifest::new(deployment);
    let source = vec![
        manifest("ConfigMap", "", "a", "1"),
        manifest("ConfigMap", "ns", "a", "2"),
        deployment.clone(),
        deployment.clone(),
        deployment,
        manifest("ConfigMap", "other", "a", "4"),
    ];
    let (kept, warnings) = combine(vec![source], "ns");
    assert_eq!(notes(&kept), ["1", "2", "3", "3", "3", "4"]);
    let messages: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "Resource /ConfigMap/ns/a appeared 2 times among application resources; the last one is used",
            "Resource apps/Deployment/ns/d appeared 3 times among application resources; the last one is used",
        ]
    );
}

#[test]
fn unnamed_objects_are_all_different() {
    let source = || vec![manifest("A", "", "", "1"), manifest("A", "", "", "2")];
    let (kept, warnings) = combine(vec![source(), source()], "ns");
    assert_eq!((notes(&kept), warnings.len()), (vec!["1", "2", "1", "2"], 0));
}

#[test]
fn only_core_secrets_are_skipped() {
    let mut custom = manifest("Secret", "", "c", "3").object().clone();
    custom.insert("apiVersion".to_owned(), "example.com/v1".into());
    let objects =
        vec![manifest("Secret", "", "a", "1"), manifest("ConfigMap", "", "b", "2"), Manifest::new(custom)];
    assert_eq!(notes(&skip_secrets(objects)), ["2", "3"]);
}

#[test]
fn empty_application_gets_pruning_warning() {
    let warning = nothing_rendered("argocd/web", &[]).expect("a warning");
    assert!(
        warning.message.contains("argocd/web") && warning.message.contains("pruning would delete everything")
    );
    assert_eq!(nothing_rendered("argocd/web", &[manifest("A", "", "a", "")]), None);
}
