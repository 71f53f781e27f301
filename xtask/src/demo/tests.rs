//! The demo's repository, and what it reads of the program's output.

use std::fs;

use super::program::isolated;
use super::repository;
use super::row::{self, Row, Store};
use crate::workspace_root;

const STORE: &str = "
metadata: {name: shop}
spec: {source: {path: charts/web, plugin: {parameters: []}}}
---
metadata: {name: blog}
spec:
  sources:
    - {path: charts/web, plugin: {name: simple-helm-cmp-v1.0}}
    - {path: guestbook, kustomize: {namePrefix: x-}}
    - {path: policies, directory: {recurse: true}}
";

const REPORT: &str = r#"{"applications": [
  {"name": "blog", "sources": [
    {"position": 1, "path": "charts/web", "revision": "aaaa", "type": "Plugin", "plugin": "simple-helm-cmp-v1.0",
     "parameters": [{"name": "values-files", "array": ["a"]}, {"name": "helm-parameters", "map": {"a": "b"}, "string": "c"}],
     "objects": 3, "seconds": 0.5, "pluginSeconds": 0.25},
    {"position": 2, "path": "guestbook", "revision": "aaaa", "type": "Plugin", "plugin": "kustomize",
     "parameters": [{"name": "name-prefix", "string": "x-"}], "objects": 12, "seconds": 0.0456, "pluginSeconds": 0.04},
    {"position": 3, "path": "policies", "revision": "aaaa", "type": "Directory", "plugin": null, "parameters": [],
     "objects": 2, "seconds": 0.001, "pluginSeconds": 0.0}]},
  {"name": "shop", "sources": [
    {"position": 1, "path": "charts/web", "revision": "bbbb", "type": "Plugin", "plugin": "simple-helm-cmp-v1.0",
     "parameters": [], "objects": 2, "seconds": 1.0, "pluginSeconds": 1.0}]}]}"#;

const LIST: &str = r#"[
  {"name": "values-files", "announced": true, "sourcePosition": 1},
  {"name": "helm-parameters", "announced": true, "sourcePosition": 1},
  {"name": "set-by-somebody", "announced": false, "sourcePosition": 1},
  {"name": "name-prefix", "announced": true, "sourcePosition": 2}]"#;

fn rows() -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("store.yaml"), STORE).unwrap();
    let mut rows = row::read(REPORT, &Store::read(folder.path()).unwrap()).unwrap();
    row::add_announcements(&mut rows, "blog", LIST).unwrap();
    rows
}

#[test]
fn table_shows_renderer_and_parameters_of_each_source() {
    let expected = "\
APPLICATION   SOURCE          PLUGIN                 CHOSEN BY   PARAMETERS   OBJECTS   TIME      IN PLUGIN
blog          1: charts/web   simple-helm-cmp-v1.0   name        2 of 2       3         500 ms    250 ms
blog          2: guestbook    kustomize              block       1 of 1       12        46 ms     40 ms
blog          3: policies     directory              built in    0 of 0       2         1 ms      0 ms
shop          charts/web      simple-helm-cmp-v1.0   discovery   0 of 0       2         1000 ms   1000 ms
";
    assert_eq!(row::table(&rows()), expected);
    assert_eq!(row::summary(&rows(), 1.25), "2 applications, 19 objects in 1.2 s");
}

#[test]
fn repository_has_reproducible_commits() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = workspace_root();
    let revisions = repository::make(&root, first.path()).unwrap();
    assert_eq!(repository::make(&root, second.path()).unwrap(), revisions);
    fs::write(first.path().join("repository/left-over"), "").unwrap();
    assert_eq!(repository::make(&root, first.path()).unwrap(), revisions, "it is made anew");
    assert_ne!(revisions.v1, revisions.head);

    let deployment = "guestbook/base/deployment.yaml";
    for (revision, folder) in [("HEAD", "repository"), ("v1", "repository@v1")] {
        let shown = isolated("git", first.path())
            .args(["show", &format!("{revision}:{deployment}")])
            .current_dir(first.path().join("repository"))
            .output()
            .unwrap();
        let file = fs::read(root.join("examples").join(folder).join(deployment)).unwrap();
        assert_eq!(String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&file), "{revision}");
    }
}
