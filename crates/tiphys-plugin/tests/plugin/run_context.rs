//! The run context: its content, its isolation and its removal.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use tiphys_model::access::{ContextSource, RepositoryAccess, RunContext, Secret, SourceKind};
use tiphys_plugin::{GivenContext, GivenRef, Plugin as _, Request};
use tiphys_tree::Tree;

use crate::fixture::{Fixture, generated, request};

/// A plugin that prints the file as the data of an object, and announces it as its only default.
const TELLS: &str = "  runContext: true
  generate: {command: [sh, -c, 'printf \"kind: Told\\ndata: \"; cat \"$TIPHYS_CONTEXT_FILE\"']}
  parameters: {dynamic: {command: [sh, -c, 'printf \"[{\\\"name\\\":\\\"%s\\\"}]\" \"$(basename \"$TIPHYS_CONTEXT_FILE\")\"']}}
";

fn given(refs: &[(&str, &Tree)]) -> GivenContext {
    GivenContext {
        context: RunContext {
            source: ContextSource {
                kind: SourceKind::Git,
                repo_url: "https://git.example/a".to_owned(),
                multiple: true,
                ..ContextSource::default()
            },
            repositories: vec![RepositoryAccess {
                url: "https://charts.example".to_owned(),
                password: Secret::new("hunter2"),
                ..RepositoryAccess::default()
            }],
            ..RunContext::default()
        },
        refs: refs
            .iter()
            .map(|(name, tree)| {
                let (repo_url, revision) = (format!("https://git.example/{name}"), "abc".to_owned());
                ((*name).to_owned(), GivenRef { tree: (*tree).clone(), repo_url, revision })
            })
            .collect::<BTreeMap<_, _>>(),
    }
}

fn with(request: Request, context: GivenContext) -> Request {
    Request { context: Some(Arc::new(context)), ..request }
}

#[tokio::test]
async fn plugin_gets_context_and_trees_of_other_sources() {
    let fixture = Fixture::new();
    let (tree, other) = (fixture.tree(&[("app/x", "")]), fixture.tree(&[("v/a.yaml", "a: 1\n")]));
    let plugin = fixture.plugin("p", TELLS);
    let request = with(request(&tree), given(&[("../odd", &other), ("same", &tree)]));
    let told = generated(&plugin, &request).await.expect("it tells");
    let told: Value = serde_json::from_str(&told[0]).expect("JSON");
    let data = &told["data"];
    let root = &data["refs"]["same"]["path"];
    assert_eq!(
        data["source"],
        json!({"kind": "git", "repoURL": "https://git.example/a", "chart": "", "multiple": true, "proxy": "", "noProxy": "", "root": root})
    );
    assert_eq!(data["repositories"][0]["password"], "hunter2");
    assert_eq!(data["refs"]["../odd"]["revision"], "abc");
    assert_eq!(data["refs"]["same"]["repoURL"], "https://git.example/same");
    let announced = plugin.announce(&request).await.expect("it announces");
    assert_eq!(announced.list[0].name, "context.json", "announcing has it, too");
    assert_eq!(fixture.left_behind().await, Vec::<String>::new(), "nothing of it stays");
}

#[tokio::test]
async fn changes_to_other_sources_are_private() {
    let fixture = Fixture::new();
    let (tree, other) = (fixture.tree(&[("app/x", "")]), fixture.tree(&[("v/a.yaml", "a: 1\n")]));
    let text = "  runContext: true
  generate:
    command: [sh, -euc]
    args:
    - |
      other=$(sed -n 's|.*\"other\":{\"path\":\"\\([^\"]*\\)\".*|\\1|p' \"$TIPHYS_CONTEXT_FILE\")
      test \"$(stat -f -c %T \"$other\")\" = \"$(stat -f -c %T .)\"
      cat \"$other/v/a.yaml\"; echo 'kind: Read'
      echo changed >\"$other/v/a.yaml\"; rm -r \"$other/v\"
";
    let plugin = fixture.plugin("p", text);
    let request = with(request(&tree), given(&[("other", &other)]));
    for _ in 0..2 {
        let told = generated(&plugin, &request).await;
        assert_eq!(told, Ok(vec![r#"{"a":1,"kind":"Read"}"#.to_owned()]));
    }
    assert_eq!(fs::read_to_string(other.root().join("v/a.yaml")).expect("it is there"), "a: 1\n");
}

#[tokio::test]
async fn context_contains_the_root_of_the_view() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", ""), ("top", "")]);
    let text = "  runContext: true
  generate:
    command: [sh, -euc]
    args:
    - |
      root=$(sed -n 's|.*\"root\":\"\\([^\"]*\\)\".*|\\1|p' \"$TIPHYS_CONTEXT_FILE\")
      test \"$root/app\" -ef . && test -f \"$root/top\" && echo 'kind: Found'
";
    let told = generated(&fixture.plugin("p", text), &with(request(&tree), given(&[]))).await;
    assert_eq!(told, Ok(vec![r#"{"kind":"Found"}"#.to_owned()]));
}

#[tokio::test]
async fn several_names_of_one_tree_share_a_directory() {
    let fixture = Fixture::new();
    let (tree, other) = (fixture.tree(&[("app/x", "")]), fixture.tree(&[("v/a.yaml", "a: 1\n")]));
    let request = with(request(&tree), given(&[("one", &other), ("own", &tree), ("two", &other)]));
    let told = generated(&fixture.plugin("p", TELLS), &request).await.expect("it tells");
    let told: Value = serde_json::from_str(&told[0]).expect("JSON");
    let path = |name: &str| told["data"]["refs"][name]["path"].as_str().expect("a path").to_owned();
    assert_eq!(path("one"), path("two"));
    assert_ne!(path("one"), path("own"));
}

#[tokio::test]
async fn context_file_is_readable_by_this_user_only() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let text = "  runContext: true\n  generate: {command: [sh, -c, 'echo \"kind: m$(stat -c %a \"$TIPHYS_CONTEXT_FILE\" \"$(dirname \"$TIPHYS_CONTEXT_FILE\")\" | paste -sd-)\"']}\n";
    let told = generated(&fixture.plugin("p", text), &with(request(&tree), given(&[]))).await;
    assert_eq!(told, Ok(vec![r#"{"kind":"m600-700"}"#.to_owned()]));
}

#[tokio::test]
async fn plugin_without_run_context_gets_no_file() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture
        .plugin("p", "  generate: {command: [sh, -c, 'echo \"kind: c${TIPHYS_CONTEXT_FILE:-none}\"']}");
    let told = generated(&plugin, &with(request(&tree), given(&[]))).await;
    assert_eq!(told, Ok(vec![r#"{"kind":"cnone"}"#.to_owned()]));
    assert!(!plugin.configuration().await.expect("it says").run_context);
    let asks = fixture.plugin("p", TELLS);
    assert!(asks.configuration().await.expect("it says").run_context);
}

#[tokio::test]
async fn failed_run_leaves_no_context_files() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  runContext: true\n  generate: {command: [sh, -c, 'kill -9 $$']}");
    let error = generated(&plugin, &with(request(&tree), given(&[("other", &tree)]))).await;
    assert!(error.is_err());
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}
