//! The demo's repository, what it reads of the program's answers, and what it expects.

use std::fs;

use super::expectation::broken;
use super::program::isolated;
use super::repository::{self, Revisions};
use super::row::{self, Choice, Row, Store};
use super::table;
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
fn the_table_says_what_made_each_source_and_what_is_set_of_what_is_announced() {
    let expected = "\
APPLICATION   SOURCE          PLUGIN                 CHOSEN BY   PARAMETERS   OBJECTS   TIME      IN PLUGIN
blog          1: charts/web   simple-helm-cmp-v1.0   name        2 of 2       3         500 ms    250 ms
blog          2: guestbook    kustomize              block       1 of 1       12        46 ms     40 ms
blog          3: policies     directory              built in    0 of 0       2         1 ms      0 ms
shop          charts/web      simple-helm-cmp-v1.0   discovery   0 of 0       2         1000 ms   1000 ms
";
    assert_eq!(table::of(&rows()), expected);
    assert_eq!(row::summary(&rows(), 1.25), "2 applications, 19 objects in 1.2 s");
}

#[test]
fn an_answer_that_lacks_a_field_is_a_failure_that_names_it() {
    let store = Store::read(&workspace_root().join(super::STORE)).unwrap();
    let cases = [
        ("", "tiphys printed no JSON: EOF while parsing a value at line 1 column 0"),
        ("{}", "what tiphys printed lacks a list"),
        (
            r#"{"applications": [{"sources": [{"position": 1, "parameters": []}]}]}"#,
            "what tiphys printed lacks name",
        ),
    ];
    for (report, failure) in cases {
        assert_eq!(row::read(report, &store).unwrap_err().to_string(), failure);
    }
    let other = r#"[{"name": "x", "announced": true, "sourcePosition": 4}]"#;
    let failure = row::add_announcements(&mut rows(), "blog", other).unwrap_err();
    assert_eq!(failure.to_string(), "what tiphys printed lacks the source of an announcement");
}

/// Rows that show everything.
fn complete() -> Vec<Row> {
    let plugins = ["kustomize", "kustomize-helm-proxy-cmp-v1.0", "simple-helm-cmp-v1.0", "trivial-cmp-v1.0"];
    let choices = [Choice::Name, Choice::Discovery, Choice::Block, Choice::Name];
    let mut all: Vec<Row> = (0..9)
        .map(|index: usize| Row {
            application: format!("app-{index}"),
            position: 1,
            sources: 1,
            path: "path".to_owned(),
            revision: "head".to_owned(),
            maker: (*plugins.get(index).unwrap_or(&"directory")).to_owned(),
            choice: *choices.get(index).unwrap_or(&Choice::BuiltIn),
            kinds: ["string", "array", "map"].get(index).into_iter().map(|&kind| kind.to_owned()).collect(),
            set: 0,
            announced: ["values-files", "helm-parameters"]
                .into_iter()
                .filter(|_| index == 2)
                .map(str::to_owned)
                .collect(),
            objects: 1,
            seconds: 0.0,
            plugin_seconds: 0.0,
        })
        .collect();
    all[8].sources = 2;
    all[7].revision = "v1".to_owned();
    all
}

type Change = fn(&mut Vec<Row>);

/// What the demo says after one change to rows that show everything.
fn after(change: impl FnOnce(&mut Vec<Row>)) -> Vec<String> {
    let mut rows = complete();
    change(&mut rows);
    broken(&rows, &Revisions { v1: "v1".to_owned(), head: "head".to_owned() })
}

#[test]
fn the_demo_fails_when_the_examples_show_less() {
    assert_eq!(after(|_| ()), [""; 0]);
    let cases: [(Change, &str); 12] = [
        (
            |rows| rows[5..8].iter_mut().for_each(|row| row.application.clear()),
            "there are 7 Applications; at least 8 are due",
        ),
        (|rows| rows[3].maker = "directory".to_owned(), "nothing is rendered by the plugin trivial-cmp-v1.0"),
        (|rows| rows[1].choice = Choice::Name, "no plugin is chosen by discovery"),
        (|rows| rows[2].choice = Choice::Name, "no plugin is chosen by block"),
        (
            |rows| rows[4..].iter_mut().for_each(|row| row.maker = "kustomize".to_owned()),
            "no source is a directory",
        ),
        (|rows| rows[8].sources = 1, "no application has several sources"),
        (|rows| rows[1].kinds.clear(), "no parameter is set to a value of kind array"),
        (
            |rows| drop(rows[2].announced.pop_first()),
            "no source has both a static and a dynamic announcement",
        ),
        (|rows| rows[7].revision = "head".to_owned(), "no source is pinned to the tag v1"),
        (
            |rows| rows[0].revision = "else".to_owned(),
            "a source is from another commit than those of v1 and HEAD",
        ),
        (|rows| rows[6].objects = 0, "app-6, source 1, has no objects"),
        (|rows| rows[2].kinds.clear(), "no parameter is set to a value of kind map"),
    ];
    for (change, sentence) in cases {
        assert_eq!(after(change), [sentence]);
    }
    let by_name = after(|rows| rows.iter_mut().for_each(|row| row.choice = Choice::Discovery));
    assert_eq!(by_name, ["no plugin is chosen by name", "no plugin is chosen by block"]);
}

#[test]
fn the_repository_has_the_same_commits_whoever_makes_it() {
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
