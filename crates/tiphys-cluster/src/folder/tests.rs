use std::fs;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tempfile::TempDir;
use tiphys_engine::{Manifest, ObjectKey};

use super::FolderCluster;
use crate::ClusterReader;

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

fn key(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectKey {
    let text = str::to_owned;
    ObjectKey { group: text(group), kind: text(kind), namespace: text(namespace), name: text(name) }
}

#[test]
fn objects_are_found_by_group_kind_namespace_and_name() {
    let dir = folder(&[
        (
            "a.yaml",
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: two}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: one}}\n",
        ),
        ("sub/b.json", r#"[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "one"}}]"#),
        ("sub/c.yml", "apiVersion: example.com/v1\nkind: ConfigMap\nmetadata: {name: a, namespace: two}\n"),
        (".hidden/d.yaml", "not: an object\n"),
        ("notes.txt", "[\n"),
    ]);
    let cluster = FolderCluster::load(dir.path()).expect("valid state");
    let cases = [
        (key("", "ConfigMap", "two", "a"), true),
        (key("example.com", "ConfigMap", "two", "a"), true),
        (key("", "ConfigMap", "one", "a"), false),
        (key("", "Namespace", "", "one"), true),
        (key("apps", "Deployment", "two", "a"), false),
    ];
    for (key, there) in cases {
        let found = ready(cluster.get(&key)).expect("no error");
        assert_eq!(found.as_ref().map(Manifest::key), there.then_some(key));
    }
    let all: Vec<String> =
        ready(cluster.all()).expect("no error").iter().map(|manifest| manifest.key().to_string()).collect();
    assert_eq!(all, ["ConfigMap one/b", "ConfigMap two/a", "Namespace one", "ConfigMap.example.com two/a"]);
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
        ("a: [\n", " is not YAML"),
    ];
    for (text, expected) in cases {
        let dir = folder(&[("f.yaml", text)]);
        let error = FolderCluster::load(dir.path()).expect_err(text).to_string();
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
    cluster.extend(&dir.path().join("b.yaml")).expect("valid state");
    assert_eq!(ready(cluster.all()).expect("no error").len(), 2);
    let error = cluster.extend(&dir.path().join("c.yaml")).expect_err("a duplicate object").to_string();
    assert!(error.contains("A a is already defined in ") && error.contains("a/f.yaml:1:1"), "{error}");
}
