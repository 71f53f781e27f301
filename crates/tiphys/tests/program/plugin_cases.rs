//! Runs the test cases of this repository's plugins with the real helm, kustomize, yq and jq.
//!
//! `tiphys plugin test --help` describes a case.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tiphys_testkit::{fixture, tools, workspace_root};

#[test]
fn proposal_example_1_config_map_name_from_a_parameter() {
    check_plugin("examples/plugins/trivial");
}

#[test]
fn proposal_example_2_values_of_charts_in_a_kustomization() {
    check_plugin("examples/plugins/kustomize-helm");
}

#[test]
fn proposal_example_3_value_files_and_values_of_a_chart() {
    check_plugin("examples/plugins/simple-helm");
}

#[test]
fn proposal_example_4_kustomize_prefix_suffix_images_labels() {
    check_plugin("plugins/kustomize");
}

#[test]
fn helm_plugin_passes_its_cases() {
    check_plugin("plugins/helm");
}

#[test]
fn every_plugin_directory_has_a_test() {
    let tested = [
        "examples/plugins/kustomize-helm",
        "examples/plugins/simple-helm",
        "examples/plugins/trivial",
        "plugins/helm",
        "plugins/kustomize",
    ];
    assert_eq!(plugin_folders(), tested, "add a test that calls check_plugin");
}

#[test]
fn shared_jq_programs_are_equal() {
    let plugins = workspace_root().join("examples/plugins");
    for name in ["helm-values.jq", "helm-announcement.jq"] {
        let text =
            |plugin: &str| fs::read_to_string(plugins.join(plugin).join(name)).expect("the file can be read");
        assert_eq!(text("simple-helm"), text("kustomize-helm"), "{name}: the copies differ");
    }
}

/// The proposal advises against scripts inside YAML: editors and scanners do not check them.
#[test]
fn plugins_have_scripts_in_files_and_no_findings() {
    for plugin in plugin_folders() {
        let output = tiphys(&["plugin", "check", &plugin, "-o", "json"]);
        let report = json(&succeeded(&output));
        let findings = report["findings"].as_array().expect("a list of findings");
        assert!(findings.iter().all(|finding| finding["level"] == "note"), "{plugin}: {findings:?}");
        let spec =
            fs::read(workspace_root().join(&plugin).join("plugin.yaml")).expect("the file can be read");
        let file = tiphys_yaml::read_document(&spec).expect("valid YAML").expect("a document").to_value();
        let commands: Vec<&Value> =
            ["/spec/init", "/spec/generate", "/spec/discover/find", "/spec/parameters/dynamic"]
                .iter()
                .filter_map(|place| file.pointer(&format!("{place}/command")))
                .collect();
        assert!(!commands.is_empty(), "{plugin} has commands");
        for command in commands {
            let words = command.as_array().expect("a command is a list");
            let [Value::String(script)] = words.as_slice() else {
                panic!("{plugin}: {command} is more than a file")
            };
            let folder = workspace_root().join(&plugin);
            let is_own_crate = fs::read_to_string(folder.join("Cargo.toml"))
                .is_ok_and(|manifest| manifest.contains(&format!("name = \"{script}\"")));
            assert!(is_own_crate || folder.join(script).is_file(), "{plugin}: {script} does not exist");
        }
    }
}

/// Example 1 uses keys that are no longer read. Without a finding, the form would just be empty.
#[test]
fn stale_key_of_proposal_example_1_is_a_finding() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("plugin.yaml");
    let stale = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: trivial-cmp
spec:
  version: v1.0
  generate:
    command: [generate.sh]
  discover:
    fileName: ./trivial-cmp
  parameters:
    command: [parameters.sh]
";
    fs::write(&file, stale).expect("the file can be written");
    let output = tiphys(&["plugin", "check", file.to_str().expect("a path of text")]);
    let text = succeeded(&output);
    assert!(text.contains("plugin.yaml:12:5: warning:") && text.contains("parameters.command"), "{text}");
}

/// Question 3 of the proposal: users can always add items to an announced list or map.
#[test]
fn items_can_be_added_to_every_announced_list_and_map() {
    let place = ["examples/plugins/simple-helm", "--in", "examples/repository", "--path", "charts/web"];
    let announced = json(&succeeded(&tiphys(&[&["plugin", "announce"], &place[..]].concat())));
    let helm_parameters = announced
        .as_array()
        .and_then(|all| all.iter().find(|one| one["name"] == "helm-parameters"))
        .expect("the chart's values are announced");
    assert_eq!(helm_parameters["map"].get("podAnnotations.added"), None, "the item is new");
    let set = [
        "--param",
        r#"helm-parameters:={"podAnnotations.added": "yes"}"#,
        "--param",
        r#"values-files:=["values-large.yaml"]"#,
    ];
    let output = tiphys(&[&["plugin", "generate"], &place[..], &set, &["-o", "json"]].concat());
    let manifests = json(&succeeded(&output));
    let annotation = manifests["items"]
        .as_array()
        .expect("a list of objects")
        .iter()
        .find_map(|object| object.pointer("/spec/template/metadata/annotations/added"));
    assert_eq!(annotation, Some(&Value::from("yes")));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "no warnings");
}

/// Runs all cases of a plugin.
fn check_plugin(plugin: &str) {
    let output = tiphys(&["plugin", "test", plugin]);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    let names: Vec<String> = fixture::cases(&workspace_root().join(plugin).join("testdata"))
        .iter()
        .map(|case| format!("ok {}", case.file_name().expect("a folder has a name").display()))
        .collect();
    assert_eq!(stdout.lines().collect::<Vec<_>>(), names, "all cases were run");
}

/// Runs the program in the workspace's root without the user's settings.
#[expect(clippy::disallowed_methods, reason = "the test runs the program")]
fn tiphys(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().expect("a temporary folder");
    let path = tools::search_path();
    Command::new(env!("CARGO_BIN_EXE_tiphys"))
        .args(arguments)
        .current_dir(workspace_root())
        .env_clear()
        .env("PATH", path)
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .output()
        .expect("the program starts")
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("the output is text")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in:\n{text}"))
}

fn plugin_folders() -> Vec<String> {
    ["examples/plugins", "plugins"]
        .into_iter()
        .flat_map(|folder| fixture::cases(&workspace_root().join(folder)))
        .map(|plugin: PathBuf| below_root(&plugin))
        .collect()
}

fn below_root(path: &Path) -> String {
    path.strip_prefix(workspace_root()).expect("below the root").display().to_string()
}

/// The template follows the guide for plugin authors.
#[test]
fn created_plugin_has_no_findings_and_passes_its_cases() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().to_str().expect("a path of text");
    succeeded(&tiphys(&["plugin", "create", "greeter", "--dir", dir]));
    let plugin = format!("{dir}/greeter");
    let report = json(&succeeded(&tiphys(&["plugin", "check", &plugin, "-o", "json"])));
    assert_eq!(report["findings"], Value::Array(Vec::new()));
    assert_eq!(report["socket"], "greeter.sock");
    let cases = succeeded(&tiphys(&["plugin", "test", &plugin]));
    assert_eq!(cases, "ok every-parameter\nok odd-values\nok owner-missing\n");
    let tree = format!("{plugin}/testdata/every-parameter/tree");
    let generated = json(&succeeded(&tiphys(&[
        "plugin", "generate", &plugin, "--in", &tree, "--path", "app", "--param", "owner=me", "-o", "json",
    ])));
    assert_eq!(generated["items"][0]["data"]["owner"], "me");
}

#[test]
fn created_plugin_rejects_invalid_values_by_name() {
    let plugin = "crates/tiphys/src/commands/plugin/create/template";
    let tree = format!("{plugin}/testdata/every-parameter/tree");
    let refused = [
        ("owner=", "parameter owner: a value is required"),
        ("owner:=[\"me\"]", "parameter owner: expected a value in the field string"),
        ("replicas=100", "parameter replicas: expected a number from 0 to 99"),
        ("replicas=1e1", "parameter replicas: expected a number from 0 to 99"),
        ("debug=yes", "parameter debug: expected true or false"),
        ("size=huge", "parameter size: expected one of small, medium, large"),
        ("hosts=a", "parameter hosts: expected a value in the field array"),
    ];
    for (parameter, message) in refused {
        let mut arguments =
            vec!["plugin", "generate", plugin, "--in", &tree, "--path", "app", "--param", parameter];
        if !parameter.starts_with("owner") {
            arguments.extend(["--param", "owner=me"]);
        }
        let output = tiphys(&arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{parameter}: {stderr}");
        assert!(stderr.contains(message), "{parameter}: {stderr}");
    }
}
