//! Values of dynamic parameters are only in the rendered objects.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tiphys_testkit::kube_server::KubeServer;
use tiphys_testkit::tools;

use crate::canary::Canary;
use crate::live::{LiveWorld, from_object};
use crate::running::Running;
use crate::world::{Output, URL};

/// Templates of charts that fail, or that print the value in objects that are invalid.
const TEMPLATES: &[(&str, &str)] = &[
    ("fail", "{{ fail .Values.host }}"),
    ("fail-quoted", "{{ fail (quote .Values.host) }}"),
    ("fail-shell", "{{ fail (squote .Values.host) }}"),
    ("fail-json", "{{ fail (toJson .Values) }}"),
    ("fail-yaml", "{{ fail (toYaml .Values) }}"),
    ("fail-base64", "{{ fail (b64enc .Values.host) }}"),
    ("fail-url", "{{ fail (urlquery .Values.host) }}"),
    ("field", "{{ .Values.host.field }}"),
    ("index", "{{ index .Values.host 5000 }}"),
    ("include", "{{ include .Values.host . }}"),
    ("version", "{{ semver .Values.host }}"),
    ("not-yaml", "a: [{{ .Values.host }}"),
    ("no-object", "{{ toJson .Values.host }}"),
    ("no-kind", "apiVersion: v1\nmetadata: {name: {{ toJson .Values.host }}}"),
    ("name", "apiVersion: v1\nkind: [Pod]\nmetadata: {name: {{ toJson .Values.host }}}"),
    ("namespace", "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: {{ toJson .Values.host }}}"),
    ("cluster-scoped", "apiVersion: v1\nkind: Node\nmetadata: {name: {{ toJson .Values.host }}}"),
    ("tracked", "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ toJson .Values.host }}, annotations: [x]}"),
    ("items", "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ toJson .Values.host }}}\nitems: []"),
    ("api-version", "apiVersion: {{ toJson (print \"a/b/\" .Values.host) }}\nkind: Pod\nmetadata: {name: x}"),
    ("kind", "apiVersion: v1\nkind: {{ toJson .Values.host }}\nmetadata: {name: x}\nitems: []"),
    (
        "annotations",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x, annotations: {a: [{{ toJson .Values.host }}]}}",
    ),
];

/// Schemas of charts that do not permit the value.
const SCHEMAS: &[(&str, &str)] = &[
    ("type", r#"{"properties": {"host": {"type": "integer"}}}"#),
    ("length", r#"{"properties": {"host": {"maxLength": 1}}}"#),
    ("pattern", r#"{"properties": {"host": {"pattern": "^x$"}}}"#),
    ("const", r#"{"properties": {"host": {"const": "x"}}}"#),
];

/// Scripts of plugins that fail. `$FILE` is the parameters file.
const SCRIPTS: &[(&str, &str)] = &[
    ("stderr", "cat $FILE >&2; exit 1"),
    ("shell", "set -x; : \"$(cat $FILE)\"; exit 1"),
    ("base64", "jq -rj '.[0].string' $FILE | base64 -w0 >&2; exit 1"),
    ("url", "jq -r '.[0].string | @uri' $FILE >&2; exit 1"),
    ("escaped", "jq -r '.[0].string | @sh' $FILE >&2; exit 1"),
    ("quoted", "bash -c 'printf %q \"$0\"' \"$(jq -r '.[0].string' $FILE)\" >&2; exit 1"),
    ("raw", "jq -r '.[0].string' $FILE >&2; exit 1"),
    ("killed", "jq -r '.[0].string' $FILE >&2; kill -9 $$"),
    ("timeout", "jq -r '.[0].string' $FILE >&2; exec tail -f /dev/null"),
    ("not-yaml", "echo \"a: [$(jq -r '.[0].string' $FILE)\""),
    ("no-object", "jq '.[0].string' $FILE"),
    ("cut", "jq -rj '.[0].string' $FILE >&2; head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1"),
    (
        "cut-before",
        "head -c 4070 /dev/zero | tr '\\0' x >&2; jq -rj '.[0].string' $FILE >&2; head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1",
    ),
    ("much", "head -c 100000 /dev/zero | tr '\\0' x"),
];

/// Mode bits that give other users access.
const OF_OTHERS: u32 = 0o077;

/// A plugin that gets its parameters in a file.
const PLUGIN: &str = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: NAME}
spec: {largeParameters: file, generate: {command: [run.sh]}}
";

/// Prints an object with the value.
const PRINT: &str = "jq -c '{apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"x\"}, data: {values: .[0].string}}' $FILE";

/// A world with the value in a ConfigMap and in a Secret.
fn world(namespace: &'static str, canary: &Canary) -> LiveWorld {
    let live = LiveWorld::new(namespace);
    live.config_map("canary", &json!({"host": canary.value}));
    let secret = json!({"metadata": {"name": "canary"}, "stringData": {"host": canary.value}});
    KubeServer::shared().create(&format!("/api/v1/namespaces/{namespace}/secrets"), &secret);
    let mut project: Value = serde_json::from_str(&live.project("team")).expect("JSON");
    project["spec"]["namespaceReadOnlyAllowlist"] =
        json!([{"group": "", "kind": "Secret", "namespace": namespace, "name": "canary"}]);
    live.world.write("store/project.yaml", &project.to_string());
    live
}

/// The parameter `host` with the value from an object.
fn host(kind: &str) -> Value {
    let reference = json!({"kind": kind, "name": "canary", "path": ".data.host"});
    let mut parameter = from_object("host", &reference);
    if kind == "Secret" {
        parameter["decode"] = json!("base64");
    }
    json!([parameter])
}

/// Renders the application `web` with every output that may contain a value, and returns what does.
fn leaks(live: &LiveWorld, canary: &Canary, args: &[&str]) -> (Output, Vec<String>) {
    let output = live.run_live(args);
    let mut found = Vec::new();
    if canary.is_in(output.stderr.as_bytes()) {
        let lines = output.stderr.lines().filter(|line| canary.is_in(line.as_bytes()));
        found.extend(lines.map(|line| format!("stderr: {line}")));
    }
    for folder in ["tmp", "cache", "home", "report.json"] {
        found.extend(canary.files(&live.world, folder));
    }
    (output, found)
}

/// Asserts that no failing source leaks the value from either object.
fn assert_failures_leak_nothing(live: &LiveWorld, canary: &Canary, cases: &[(String, Value)], code: i32) {
    let mut all = Vec::new();
    for (name, source) in cases {
        for kind in ["ConfigMap", "Secret"] {
            application(live, source, kind);
            for options in [&["--keep-workdir"][..], &["-vvv"]] {
                let render = [
                    "render",
                    "web",
                    "--report=report.json",
                    "--limit=plugin-timeout=2",
                    "--limit=plugin-stderr-max=8192",
                ];
                let (output, found) = leaks(live, canary, &[&render, options].concat());
                all.extend(found.into_iter().map(|found| format!("{name} {kind} {options:?}: {found}")));
                if (output.code, output.stdout.as_str()) != (code, "") {
                    all.push(format!("{name} {kind}: {output:?}"));
                }
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

fn helm_source(live: &LiveWorld, name: &str) -> Value {
    live.world.write(&format!("repo/{name}/Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    json!({"repoURL": URL, "path": name, "helm": {}})
}

/// Writes a plugin that gets its parameters in a file.
fn plugin_source(live: &LiveWorld, name: &str, script: &str) -> Value {
    let script = format!("#!/bin/sh\nFILE=$ARGOCD_APP_PARAMETERS_FILE\n{script}\n");
    live.world
        .write(&format!("plugins/{name}/plugin.yaml"), &PLUGIN.replace("NAME", name))
        .write(&format!("plugins/{name}/run.sh"), &script);
    json!({"repoURL": URL, "path": "plain", "plugin": {"name": name}})
}

/// Writes the application `web` with the parameter `host` from an object.
fn application(live: &LiveWorld, source: &Value, kind: &str) {
    let mut source = source.clone();
    let block = if source.get("plugin").is_some() { "plugin" } else { "helm" };
    source[block]["dynamicParameters"] = host(kind);
    live.application("web", &json!([source]));
}

#[test]
fn failing_templates_leak_no_values() {
    let canary = Canary::new(11);
    let live = world("leak-templates", &canary);
    let mut cases = Vec::new();
    for (name, template) in TEMPLATES {
        live.world.write(&format!("repo/template-{name}/templates/one.yaml"), template);
        cases.push((format!("template {name}"), helm_source(&live, &format!("template-{name}"))));
    }
    for (name, schema) in SCHEMAS {
        live.world.write(&format!("repo/schema-{name}/values.schema.json"), schema);
        cases.push((format!("schema {name}"), helm_source(&live, &format!("schema-{name}"))));
    }
    assert_failures_leak_nothing(&live, &canary, &cases, 3);
}

/// Templates that print a changed part of a value in an object that is not permitted or invalid.
const CHANGED: &[&str] = &[
    "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: {{ trunc 12 .Values.host | lower }}}",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ trunc 12 .Values.host | lower }}, annotations: [x]}",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: x, annotations: { {{ trunc 12 .Values.host | lower }}: [x]}}",
    "apiVersion: v1\n{{ trunc 12 .Values.host | lower }}: Pod\nmetadata: {name: x}",
    "apiVersion: a/b/{{ trunc 12 .Values.host | lower }}\nkind: Pod\nmetadata: {name: x}",
];

#[test]
fn changed_values_of_secrets_are_withheld() {
    let canary = Canary::new(17);
    let live = world("leak-changed", &canary);
    let changed: String = canary.value.chars().take(12).flat_map(char::to_lowercase).collect();
    for (index, template) in CHANGED.iter().enumerate() {
        live.world.write(&format!("repo/changed-{index}/templates/one.yaml"), template);
        application(&live, &helm_source(&live, &format!("changed-{index}")), "Secret");
        let output = live.run_live(&["render", "web", "--report=report.json"]);
        assert_eq!(output.code, 3, "{template}: {output:?}");
        assert!(output.stderr.contains("withheld, because a parameter was read from a Secret"), "{output:?}");
        for shown in [&output.stderr, &live.world.read("report.json")] {
            assert!(!shown.to_lowercase().contains(&changed), "{template}: {shown}");
        }
    }
}

#[test]
fn failing_plugins_leak_no_values() {
    let canary = Canary::new(12);
    let live = world("leak-plugins", &canary);
    let mut cases = Vec::new();
    for (name, script) in SCRIPTS {
        cases.push((format!("plugin {name}"), plugin_source(&live, name, script)));
    }
    assert_failures_leak_nothing(&live, &canary, &cases, 3);
}

#[test]
fn commands_leak_no_values() {
    let canary = Canary::new(13);
    let live = world("leak-commands", &canary);
    let chart = json!({"repoURL": URL, "path": "chart", "helm": {}});
    let file = plugin_source(&live, "file", PRINT);
    let env = json!({"repoURL": URL, "path": "plain", "plugin": {"name": "show"}});
    let metadata = json!({"name": "canary", "namespace": "leak-commands"});
    let encoded = STANDARD.encode(&canary.value);
    for (kind, value) in [("ConfigMap", &canary.value), ("Secret", &encoded)] {
        let object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": {"host": value}});
        live.world.write(&format!("state/{kind}.yaml"), &object.to_string());
    }
    for (source, kind) in [
        (&chart, "ConfigMap"),
        (&chart, "Secret"),
        (&file, "ConfigMap"),
        (&file, "Secret"),
        (&env, "ConfigMap"),
    ] {
        application(&live, source, kind);
        for options in [&["-o=yaml", "--keep-workdir"][..], &["-o=yaml", "-vvv"], &["--output-dir=out"]] {
            let (output, found) =
                leaks(&live, &canary, &[&["render", "web", "--report=report.json"], options].concat());
            assert_eq!(
                (output.code, found),
                (0, Vec::new()),
                "{source} {kind} {options:?}: {}",
                output.stderr
            );
            let is_rendered =
                canary.is_in(output.stdout.as_bytes()) || !canary.files(&live.world, "out").is_empty();
            assert!(is_rendered, "{source} {kind}: {}", output.stdout);
        }
        // The live objects do not have the value, so a difference shows it. Its notes do not.
        let (output, found) = leaks(&live, &canary, &["diff", "web", "-vvv", "--cluster-state=state"]);
        assert_eq!((output.code, found), (1, Vec::new()), "{}", output.stderr);
        for args in [
            &["render", "web", "--print-env"][..],
            &["params", "list", "web", "-o=json"],
            &["params", "list", "web", "-o=wide", "-vvv"],
            &["params", "get", "web", "host"],
            &["params", "get", "web", "value.host"],
            &["params", "explain", "web", "host"],
            &["diff", "web", "-o=name", "--cluster-state=state"],
            &["render", "web", "-o=name"],
        ] {
            let (output, found) = leaks(&live, &canary, args);
            assert_eq!(found, Vec::<String>::new(), "{args:?} {source} {kind}");
            assert!(!canary.is_in(output.stdout.as_bytes()), "{args:?} {source} {kind}: {}", output.stdout);
        }
    }
}

/// A command with a program `helm` before the real one.
fn with_helm(live: &LiveWorld, script: &str, args: &[&str]) -> Command {
    let helm = tools::program("helm");
    live.world.write("bin/helm", &format!("#!/bin/sh\n{script}\nexec {} \"$@\"\n", helm.display()));
    let mut command = live.command(&[args, &["--config=kubeconfig=kubeconfig"]].concat());
    let path =
        command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path.map(OsString::from));
    let path = path.expect("PATH is set").into_string().expect("UTF-8");
    command.env("PATH", format!("{}:{path}", live.world.path("bin").display()));
    command
}

#[test]
fn processes_do_not_show_values() {
    let canary = Canary::new(14);
    let live = world("leak-processes", &canary);
    let record = format!(
        "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null >> {}",
        live.world.path("record").display()
    );
    let chart = json!({"repoURL": URL, "path": "chart", "helm": {}});
    let file = plugin_source(&live, "file", &format!("{record}\n{PRINT}"));
    for (source, kind, expected) in [
        (&chart, "ConfigMap", "--set-file"),
        (&chart, "Secret", "--set-file"),
        (&file, "ConfigMap", "ARGOCD_APP_PARAMETERS_FILE"),
        (&file, "Secret", "ARGOCD_APP_PARAMETERS_FILE"),
    ] {
        application(&live, source, kind);
        live.world.write("record", "");
        let output = live.world.finish(with_helm(&live, &record, &["render", "web"]));
        assert!(output.code == 0 && canary.is_in(output.stdout.as_bytes()), "{output:?}");
        let recorded = fs::read(live.world.path("record")).expect("the record");
        assert!(String::from_utf8_lossy(&recorded).contains(expected), "{kind} {expected}");
        assert!(!canary.is_in(&recorded), "{source} {kind}");
    }
}

/// Whether other users can read neither a file nor one of its directories below another one.
fn is_private(file: &Path, below: &Path) -> bool {
    let mode = |path: &Path| path.symlink_metadata().expect("metadata").permissions().mode() & 0o777;
    let mut folders = file.ancestors().skip(1).take_while(|folder| *folder != below);
    let is_closed = |path: &Path| mode(path) & OF_OTHERS == 0;
    is_closed(file) && folders.any(is_closed)
}

#[test]
fn files_with_values_are_private_and_removed() {
    let canary = Canary::new(15);
    let live = world("leak-files", &canary);
    let world = &live.world;
    let chart = json!({"repoURL": URL, "path": "chart", "helm": {}});
    let hold = |pipe: &str| {
        let pipe = world.path(pipe).display().to_string();
        format!("if [ -p {pipe} ]; then exec 3> {pipe}; echo started >&3; exec tail -f /dev/null; fi")
    };
    let mut count = 0;
    for (is_chart, kind) in [(true, "ConfigMap"), (true, "Secret"), (false, "ConfigMap"), (false, "Secret")] {
        for signal in ["TERM", "KILL"] {
            count += 1;
            let name = format!("pipe-{count}");
            let script = hold(&name);
            let plugin = || plugin_source(&live, "file", &format!("{script}\n{PRINT}"));
            application(&live, &if is_chart { chart.clone() } else { plugin() }, kind);
            let pipe = world.pipe(&name);
            let script = format!("if [ \"$1\" = template ]; then {script}; fi");
            let running = Running::of(with_helm(&live, &script, &["render", "web"]));
            pipe.line_with("started");
            let files: Vec<String> =
                ["tmp", "cache"].iter().flat_map(|folder| canary.files(world, folder)).collect();
            assert!(!files.is_empty(), "the plugin has a file");
            for file in &files {
                assert!(is_private(Path::new(file), &world.path("")), "{file}");
            }
            running.signal(world, signal);
            let output = running.finish(world);
            assert!(!canary.is_in(output.stderr.as_bytes()), "{output:?}");
            pipe.ends();
            fs::remove_file(world.path(&name)).expect("removed");
            if signal == "KILL" {
                // The next run removes what a killed one leaves.
                let output = live.run_live(&["render", "web"]);
                assert_eq!(output.code, 0, "{output:?}");
            }
            for folder in ["tmp", "cache", "home"] {
                assert_eq!(canary.files(world, folder), Vec::<String>::new(), "{is_chart} {kind} {signal}");
            }
        }
    }
}

#[test]
fn another_value_changes_only_the_rendered_field() {
    let canaries = [Canary::new(16), Canary::new(17)];
    let live = LiveWorld::new("leak-difference");
    live.config_map("canary", &json!({"host": canaries[0].value}));
    let chart = json!({"repoURL": URL, "path": "chart", "helm": {}});
    let failing = helm_source(&live, "failing");
    live.world.write("repo/failing/templates/one.yaml", "{{ fail (quote .Values.host) }}");
    let cases =
        [chart, failing, plugin_source(&live, "file", PRINT), plugin_source(&live, "raw", SCRIPTS[0].1)];
    let path = "/api/v1/namespaces/leak-difference/configmaps/canary";
    let runs = canaries.each_ref().map(|canary| {
        let object = json!({"metadata": {"name": "canary"}, "data": {"host": canary.value}});
        KubeServer::shared().replace(path, &object);
        let mut all = Vec::new();
        for source in &cases {
            application(&live, source, "ConfigMap");
            for args in [
                &["render", "web", "-o=json"][..],
                &["params", "list", "web", "-o=json"],
                &["params", "get", "web", "host"],
            ] {
                let output = live.run_live(args);
                all.push((output.code, canary.replaced(&output.stdout), output.stderr));
            }
        }
        all
    });
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0].iter().any(|(_, stdout, _)| stdout.contains("CANARY")));
}
