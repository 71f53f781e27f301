use std::collections::BTreeSet;
use std::fs;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::json;
use tempfile::TempDir;
use tiphys_engine::{Manifest, Scope};

use super::FolderCluster;
use crate::cluster_reader::{ClusterReader, ListContent};

/// Returns the result of a future that never waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a directory never waits"),
    }
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    dir
}

fn get(cluster: &FolderCluster, group: &str, kind: &str, namespace: &str, name: &str) -> Option<Manifest> {
    let kinds = ready(cluster.kinds()).expect("no error");
    let kind = kinds.find(group, kind, None).expect("a served kind");
    ready(cluster.get(kind, namespace, name)).expect("no error")
}

fn names(objects: &[Manifest]) -> Vec<String> {
    objects.iter().map(|manifest| manifest.key().to_string()).collect()
}

#[test]
fn objects_are_found_by_group_kind_namespace_and_name() {
    let dir = folder(&[
        (
            "a.yaml",
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: two}, data: {k: v}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: one}}\n",
        ),
        ("sub/b.json", r#"[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "one"}}]"#),
        ("sub/c.yml", "apiVersion: example.com/v1\nkind: ConfigMap\nmetadata: {name: a, namespace: two}\n"),
        (".hidden/d.yaml", "not: an object\n"),
        ("notes.txt", "[\n"),
    ]);
    let cluster = FolderCluster::load(dir.path()).expect("valid state");
    let cases = [
        ("", "ConfigMap", "two", "a", Some("ConfigMap two/a")),
        ("example.com", "ConfigMap", "two", "a", Some("ConfigMap.example.com two/a")),
        ("", "ConfigMap", "one", "a", None),
        ("", "Namespace", "", "one", Some("Namespace one")),
        ("apps", "Deployment", "two", "a", None),
    ];
    for (group, kind, namespace, name, expected) in cases {
        let found = get(&cluster, group, kind, namespace, name);
        assert_eq!(found.map(|found| found.key().to_string()).as_deref(), expected);
    }

    let kinds = ready(cluster.kinds()).expect("no error");
    let kind = kinds.find("", "ConfigMap", None).expect("a served kind");
    let list = |namespace, content| ready(cluster.list(kind, namespace, content)).expect("no error");
    assert_eq!(names(&list(None, ListContent::Objects)), ["ConfigMap one/b", "ConfigMap two/a"]);
    assert_eq!(names(&list(Some("two"), ListContent::Objects)), ["ConfigMap two/a"]);
    assert_eq!(names(&list(Some("three"), ListContent::Objects)), Vec::<String>::new());
    let metadata = list(Some("two"), ListContent::Metadata).pop().expect("an object").into_value();
    let expected =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "two"}});
    assert_eq!(metadata, expected);
}

#[test]
fn served_kinds_come_from_lists_definitions_and_objects() {
    let dir = folder(&[
        (
            "a.json",
            r#"{"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": [{"name": "zones", "kind": "Zone", "namespaced": false, "verbs": ["get"]}]}"#,
        ),
        (
            "b.yaml",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec: {group: example.com, scope: Cluster, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true}]}\n",
        ),
        (
            "c.yaml",
            "apiVersion: example.org/v1\nkind: Part\nmetadata: {name: a}\n---\napiVersion: example.org/v1\nkind: Part\nmetadata: {name: a, namespace: ns}\n",
        ),
    ]);
    let cluster = FolderCluster::load(dir.path()).expect("valid state");
    let kinds = ready(cluster.kinds()).expect("no error");
    let cases = [
        ("example.com", "Zone", Scope::Cluster),
        ("example.com", "Widget", Scope::Cluster),
        ("example.org", "Part", Scope::Namespaced),
        ("", "Secret", Scope::Namespaced),
    ];
    for (group, kind, scope) in cases {
        assert_eq!(kinds.find(group, kind, None).map(|kind| kind.scope), Ok(scope), "{kind}");
    }
    let kind = kinds.find("", "Secret", None).expect("a served kind");
    let error = ready(cluster.watch(kind, None, &BTreeSet::new())).err().expect("no watch");
    assert_eq!(
        error.to_string(),
        "cluster in a folder: cannot watch Secret: a folder cannot be watched; read it again"
    );
}

#[test]
fn invalid_file_is_rejected_without_revealing_values() {
    let object =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: ns}\nstringData: {k: hunter2}\n";
    let twice = format!("{object}---\n{object}");
    let cases = [
        ("data: {k: hunter2}\n", "1:1: the object has no `kind`"),
        ("kind: A\n---\nkind: Secret\ndata: {k: hunter2}\n", "1:1: the A has no name"),
        ("- kind: A\n  metadata: {name: a}\n- hunter2\n", "3:3: expected an object, found a string"),
        (&twice, "6:1: Secret ns/a is already defined in "),
        ("a: [\n", " is not YAML at 2:1"),
        ("stringData: {k: *hunter2}\n", " is not YAML at 1:17"),
        ("kind: APIResourceList\ngroupVersion: v1\n", "1:1: the APIResourceList has no valid `resources`"),
    ];
    for (text, expected) in cases {
        let dir = folder(&[("f.yaml", text)]);
        let error = FolderCluster::load(dir.path()).expect_err(text);
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        let error = format!("{error}{}", source.unwrap_or_default());
        assert!(error.contains("f.yaml") && error.contains(expected), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    let error = FolderCluster::load("/nonexistent/state".as_ref()).expect_err("a missing path");
    assert_eq!(error.to_string(), "cannot read cluster state /nonexistent/state");
}

#[test]
fn debug_output_does_not_contain_objects() {
    let dir = folder(&[("f.yaml", "kind: Secret\nmetadata: {name: a}\nstringData: {k: hunter2}\n")]);
    let cluster = FolderCluster::load(&dir.path().join("f.yaml")).expect("valid file");
    assert_eq!(format!("{cluster:?}"), "FolderCluster(1 objects)");
}

#[test]
fn cluster_state_is_read_from_several_paths() {
    let dir = folder(&[
        ("a/f.yaml", "kind: A\nmetadata: {name: a}\n"),
        ("b.yaml", "kind: B\nmetadata: {name: b}\n"),
        ("c.yaml", "kind: A\nmetadata: {name: a}\n"),
    ]);
    let mut cluster = FolderCluster::load(&dir.path().join("a")).expect("valid state");
    assert!(ready(cluster.kinds()).expect("no error").find("", "B", None).is_err());
    cluster.extend(&dir.path().join("b.yaml")).expect("valid state");
    assert!(get(&cluster, "", "A", "", "a").is_some() && get(&cluster, "", "B", "", "b").is_some());
    let error = cluster.extend(&dir.path().join("c.yaml")).expect_err("a duplicate object").to_string();
    assert!(error.contains("A a is already defined in ") && error.contains("a/f.yaml:1:1"), "{error}");
}
