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
fn last_source_of_an_object_wins_with_a_warning() {
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
            "ConfigMap ns/a is rendered by source 1 and by source 2; the one of source 2 is used",
            "Namespace n is rendered by source 1 and by source 2; the one of source 2 is used",
        ]
    );
}

#[test]
fn duplicates_in_one_source_and_unnamed_objects_stay() {
    let source = vec![manifest("A", "", "a", "1"), manifest("A", "", "a", "2"), manifest("A", "", "", "3")];
    let (kept, warnings) = combine(vec![source, vec![manifest("A", "", "", "4")]], "ns");
    assert_eq!((notes(&kept), warnings.len()), (vec!["1", "2", "3", "4"], 0));
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
