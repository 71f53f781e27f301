//! The program `tiphys-native`: what it answers, and what it refuses.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tiphys_model::limits::{Limit, Limits};
use tiphys_plugin::{Deadline, NATIVE_PROGRAM, NativeError, NativeProgram, chain};
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::tools;
use tokio_util::sync::CancellationToken;

/// A schema whose Deployments have no fields.
const SCHEMA: &str = r#"{"definitions": {"v1.Deployment": {"x-kubernetes-group-version-kind":
    [{"group": "apps", "kind": "Deployment", "version": "v1"}], "type": "object", "properties": {}}}}"#;

const ENOUGH: Duration = Duration::from_mins(1);

fn program(bytes_max: u64) -> NativeProgram {
    let mut limits = Limits::default();
    limits.set(Limit::NATIVE_BYTES_MAX, bytes_max);
    let program = tools::program(NATIVE_PROGRAM);
    NativeProgram::find(&program, OsStr::new(""), &limits, 2, &[]).expect("it is installed")
}

/// A repository in `repo`, and a file outside of it.
fn repository(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (path, text) in [("outside.json", "{}")].iter().chain(files) {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    symlink("../outside.json", dir.path().join("repo/link.json")).expect("a link");
    dir
}

async fn ask(program: &NativeProgram, message: &Value, time_max: Duration) -> Result<String, NativeError> {
    let answer = program.ask(message, Deadline::After(time_max), &CancellationToken::new()).await;
    answer.map(|answer| answer.output)
}

async fn evaluated(code: &str, time_max: Duration, bytes_max: u64) -> Result<String, String> {
    let dir = repository(&[("repo/app/a.jsonnet", code), ("repo/lib/l.libsonnet", "{l: 'of lib'}")]);
    let root = dir.path().join("repo");
    let message =
        json!({"jsonnet": {"root": root, "file": "app/a.jsonnet", "paths": ["app", "lib"], "tlas": []}});
    let answer = ask(&program(bytes_max), &message, time_max).await;
    answer.map_err(|error| chain(&error).replace(&dir.path().display().to_string(), "<dir>"))
}

#[tokio::test]
async fn jsonnet_imports_stay_in_the_repository() {
    for (code, expected) in [
        ("import 'l.libsonnet'", Ok("{\n   \"l\": \"of lib\"\n}\n")),
        ("import '/etc/hosts'", Err("an absolute path is outside of the repository")),
        ("importstr '../../outside.json'", Err("../outside.json is outside of the repository")),
        ("importstr '../link.json'", Err("openat link.json: path escapes from parent")),
        ("import 'none.libsonnet'", Err("not found beside the file or in app, lib")),
    ] {
        match (evaluated(code, ENOUGH, 1 << 30).await, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{code}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{code}: {found}"),
            (found, _) => panic!("{code}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn jsonnet_is_limited_in_time_memory_and_depth() {
    const BYTES_MAX: u64 = 100 << 20;
    let endless = "local f(x) = if x < 0 then x else f(x + 1) tailstrict; f(0)";
    let growing = "local f(x) = f(x + x) tailstrict; f('0123456789')";
    let deep = "local f(x) = 1 + f(x); f(0)";
    for (code, time_max, expected) in [
        (endless, Duration::from_millis(200), "no answer in time: limit plugin-timeout"),
        (growing, ENOUGH, "tiphys-native: more than 104857600 bytes of memory are needed"),
        (
            "std.length(std.range(1, 1e9))",
            ENOUGH,
            "tiphys-native: more than 104857600 bytes of memory are needed",
        ),
        (deep, ENOUGH, "max stack frames exceeded"),
    ] {
        let found = evaluated(code, time_max, BYTES_MAX).await.expect_err("it is limited");
        assert!(found.contains(expected), "{code}: {found}");
    }
    // Its stack or its heap reaches the limit first.
    let found = evaluated(&"[".repeat(300_000), ENOUGH, BYTES_MAX).await.expect_err("it is limited");
    let expected = ["nested too deeply, or needs too much memory", "bytes of memory are needed"];
    assert!(expected.iter().any(|text| found.contains(text)), "{found}");
}

#[tokio::test]
async fn kustomization_with_a_schema_does_not_change_the_next_one() {
    let program = program(1 << 30);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      containers:\n      - {name: one, image: a}\n      - {name: two, image: b}\n";
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      containers:\n      - {name: two, image: c}\n";
    let dir = repository(&[
        ("repo/app/kustomization.yaml", "resources: [d.yaml]\npatches: [{path: patch.yaml}]\n"),
        ("repo/app/d.yaml", deployment),
        ("repo/app/patch.yaml", patch),
        ("repo/trimmed/schema.json", SCHEMA),
        ("repo/trimmed/kustomization.yaml", "resources: [../app]\nopenapi: {path: schema.json}\n"),
        ("repo/upper/kustomization.yaml", "resources: [../app]\nOpenAPI: {path: ../trimmed/schema.json}\n"),
        ("repo/below/kustomization.yaml", "resources: [../trimmed]\n"),
        ("repo/outside/kustomization.yaml", "resources: [../../outside.json]\n"),
        ("repo/linked/kustomization.yaml", "resources: [../link.json]\n"),
        ("repo/remote/kustomization.yaml", "resources: ['https://127.0.0.1:1/x.yaml']\n"),
    ]);
    let root = dir.path().join("repo").canonicalize().expect("it exists");
    let build = async |folder: &str| {
        let folder = root.join(folder);
        let changes = json!([{"edit": ["set", "nameprefix", "--", "x-"]}]);
        let message = json!({"kustomize": {"root": root, "folder": folder, "changes": changes}});
        ask(&program, &message, ENOUGH).await.map_err(|error| chain(&error))
    };
    let expected_objects = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x-d\nspec:\n  template:\n    spec:\n      containers:\n      - image: c\n        name: two\n      - image: a\n        name: one\n";
    assert_eq!(build("app").await.as_deref(), Ok(expected_objects));
    for (folder, expected) in [
        ("trimmed", "a kustomization with openapi needs a process of its own"),
        ("upper", "a kustomization with openapi needs a process of its own"),
        ("below", "a kustomization with openapi needs a process of its own"),
        ("outside", "outside.json is outside of the repository"),
        ("linked", "link.json is outside of the repository"),
        ("remote", "files of other hosts are not read"),
    ] {
        let found = build(folder).await.expect_err("it needs a process of its own");
        assert!(found.contains(expected), "{folder}: {found}");
        assert_eq!(build("app").await.as_deref(), Ok(expected_objects), "after {folder}");
    }
    assert_eq!(build("app").await.as_deref(), Ok(expected_objects));
    let written = fs::read_to_string(root.join("app/kustomization.yaml")).expect("a file");
    assert!(!written.contains("x-"), "the repository is not written");
}

#[tokio::test]
async fn memory_of_earlier_requests_does_not_count() {
    let program = program(400 << 20);
    let code = "std.length(std.range(1, 3e6))";
    let dir = repository(&[("repo/app/a.jsonnet", code)]);
    let message = json!({"jsonnet": {"root": dir.path().join("repo"), "file": "app/a.jsonnet", "paths": []}});
    for round in 0..5 {
        let found = ask(&program, &message, ENOUGH).await.map_err(|error| chain(&error));
        assert_eq!(found.as_deref(), Ok("3000000\n"), "round {round}");
    }
}

#[tokio::test]
async fn patterns_of_components_are_those_of_the_command_line() {
    let program = program(1 << 30);
    let component = |name: &str| {
        format!(
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nconfigMapGenerator: [{{name: {name}}}]\n"
        )
    };
    let (one, hidden, other) = (component("one"), component("hidden"), component("other"));
    let dir = repository(&[
        ("repo/a[p]p/kustomization.yaml", "{}\n"),
        ("repo/a[p]p/parts/one/kustomization.yaml", &one),
        ("repo/a[p]p/parts/.off/kustomization.yaml", &hidden),
        ("repo/app/parts/other/kustomization.yaml", &other),
    ]);
    let root = dir.path().join("repo").canonicalize().expect("it exists");
    let changes = json!([{"edit": ["add", "component", "--", "parts/*"]}]);
    let message = json!({"kustomize": {"root": root, "folder": root.join("a[p]p"), "changes": changes}});
    let found = ask(&program, &message, ENOUGH).await.map_err(|error| chain(&error));
    assert_eq!(found.as_deref(), Ok("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one-6ct58987ht\n"));
}

#[tokio::test]
async fn program_of_another_version_is_not_used() {
    for (script, answer) in [
        ("exit 0", "not that of this version"),
        ("printf '\\0\\0\\0\\2{}'; cat >/dev/null", "not that of this version"),
        ("echo garbage", "not that of this version"),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join(NATIVE_PROGRAM);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a script");
        make_executable(&file);
        let program = NativeProgram::find(&file, OsStr::new(""), &Limits::default(), 1, &[]).expect("a file");
        assert_eq!(program.usable().await, None, "{script}");
        let error = ask(&program, &json!({"jsonnet": {}}), ENOUGH).await.expect_err("it is not used");
        assert!(error.to_string().contains(answer), "{script}: {error}");
    }
}
