use serde_json::{Value, json};

use super::{Change, Comparison, Counts, compare};
use crate::Manifest;
use crate::manifest::tests::manifest;

fn config_map(namespace: &str, name: &str, value: &str) -> Manifest {
    manifest(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "name": name}, "data": {"k": value}}),
    )
}

/// Returns each difference as `word key`.
fn words(comparison: &Comparison) -> Vec<String> {
    comparison.objects.iter().map(|object| format!("{} {}", object.change.word(), object.key)).collect()
}

#[test]
fn objects_match_by_group_kind_namespace_and_name() {
    let before = [
        config_map("a", "kept", "1"),
        config_map("a", "gone", "1"),
        config_map("b", "kept", "1"),
        config_map("c", "gone", "1"),
    ];
    let after = [config_map("d", "new", "1"), config_map("b", "kept", "2"), config_map("a", "kept", "1")];
    let comparison = compare(&before, &after);
    let expected = [
        "added ConfigMap d/new",
        "changed ConfigMap b/kept",
        "removed ConfigMap a/gone",
        "removed ConfigMap c/gone",
    ];
    assert_eq!(words(&comparison), expected);
    assert_eq!(comparison.counts(), Counts { added: 1, removed: 2, changed: 1, equal: 1 });
}

#[test]
fn objects_match_across_api_versions() {
    let version = |api_version: &str| {
        [manifest(json!({"apiVersion": api_version, "kind": "Job", "metadata": {"name": "a"}}))]
    };
    assert_eq!(words(&compare(&version("batch/v1beta1"), &version("batch/v1"))), ["changed Job.batch a"]);
    assert_eq!(
        words(&compare(&version("batch/v1"), &version("x/v1"))),
        ["added Job.x a", "removed Job.batch a"]
    );
}

#[test]
fn duplicate_objects_are_compared_in_order() {
    let before = [config_map("a", "a", "1"), config_map("a", "a", "2"), config_map("a", "a", "3")];
    let after = [config_map("a", "a", "1"), config_map("a", "a", "3")];
    assert_eq!(words(&compare(&before, &after)), ["changed ConfigMap a/a", "removed ConfigMap a/a"]);
}

#[test]
fn objects_with_generate_name_match_by_prefix() {
    let job = |prefix: &str, image: &str| {
        [manifest(
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": prefix}, "spec": {"image": image}}),
        )]
    };
    assert_eq!(words(&compare(&job("a-", "1"), &job("a-", "2"))), ["changed Job.batch a-*"]);
    assert_eq!(
        words(&compare(&job("a-", "1"), &job("b-", "1"))),
        ["added Job.batch b-*", "removed Job.batch a-*"]
    );
}

#[test]
fn difference_is_rendered_as_yaml_hunks() {
    let comparison = compare(&[config_map("a", "a", "1")], &[config_map("a", "a", "2")]);
    let hunks: Vec<String> = comparison.objects.iter().map(|object| object.change.hunks(1)).collect();
    assert_eq!(hunks, ["@@ -2,3 +2,3 @@\n data:\n-  k: '1'\n+  k: '2'\n kind: ConfigMap\n"]);
}

#[test]
fn secrets_with_equal_redacted_values_are_equal() {
    let secret = |data: Value| {
        [manifest(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": data}))]
    };
    let wrapped = secret(json!({"k": "YWFh\nYWFh"}));
    assert_eq!(
        compare(&wrapped, &secret(json!({"k": "YWFhYWFh"}))).counts(),
        Counts { equal: 1, ..Counts::default() }
    );
    let changed = compare(&wrapped, &secret(json!({"k": "YWFhYWFi"})));
    let Change::Changed { before, after } = &changed.objects[0].change else { panic!("{changed:?}") };
    assert_eq!(
        (&before.value()["data"], &after.value()["data"]),
        (&json!({"k": "++++++++"}), &json!({"k": "+++++++++"}))
    );
}

#[test]
fn objects_equal_themselves() {
    let objects = [
        config_map("a", "a", "1"),
        config_map("a", "a", "2"),
        manifest(json!({})),
        manifest(json!({"kind": "X"})),
    ];
    assert_eq!(compare(&objects, &objects), Comparison { equal: 4, ..Comparison::default() });
}
