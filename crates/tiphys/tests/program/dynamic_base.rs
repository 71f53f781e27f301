//! Dynamic parameters in `diff --base`: a live cluster answers no references of head.

use serde_json::{Value, json};
use tiphys_testkit::git::Repository;
use tiphys_testkit::kube_server::KubeServer;

use crate::live::{LiveWorld, chart, from_config_map, from_object};
use crate::world::Output;

/// A checkout with the application `web`, whose parameter `host` is committed.
fn checkout(namespace: &'static str) -> LiveWorld {
    let live = LiveWorld::in_checkout(namespace);
    live.helm_application("web", &host(".data.host"));
    let repository = Repository::init(live.world.path("repo"));
    repository.commit("one");
    // Both sides are rendered.
    let template = live.world.read("repo/chart/templates/shown.yaml");
    live.world.write("repo/chart/templates/shown.yaml", &template.replace("values:", "changed:"));
    live
}

fn host(path: &str) -> Value {
    json!([from_config_map("host", "settings", path)])
}

fn diff(live: &LiveWorld, options: &[&str]) -> Output {
    live.run_live(&[&["diff", "--base=HEAD"], options].concat())
}

/// The lines of a difference that were removed and added.
fn changes(output: &Output) -> Vec<&str> {
    let is_change = |line: &&str| line.starts_with(['-', '+']) && line.contains("'{");
    output.stdout.lines().filter(is_change).map(|line| line[1..].trim()).collect()
}

fn error(application: &str, message: &str) -> String {
    // An application that only the head has fails only there.
    let side = if application == "added" { "" } else { "only in the working copy: " };
    format!(
        "error: application {application} (repo/store/{application}.yaml:1:1): {side}dynamic parameter {message}\n"
    )
}

const HINT: &str =
    "hint: --resolve-head-references lets clusters answer them; use it only for trusted changes\n";

const VERSION: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: version}\ndata:\n  version: {{ .Capabilities.KubeVersion.Version }}\n";

#[test]
fn live_cluster_answers_only_references_of_the_base() {
    let live = checkout("head");
    let base = r#"values: '{"host":"example.org"}'"#;
    let unchanged = r#"changed: '{"host":"example.org"}'"#;
    let output = diff(&live, &[]);
    assert_eq!((output.code, changes(&output)), (1, vec![base, unchanged]), "{output:?}");
    let other_object = json!([from_object(
        "host",
        &json!({"kind": "ConfigMap", "name": "settings", "namespace": "head-shared", "path": ".data.host"})
    )]);
    let added = json!([
        from_config_map("host", "settings", ".data.host"),
        from_config_map("more", "settings", ".data.port")
    ]);
    let renamed = json!([from_config_map("renamed", "settings", ".data.host")]);
    // Which kinds the cluster serves is not told, either.
    let unknown = json!([from_object("host", &json!({"kind": "ConfigMop", "name": "settings"}))]);
    let shared = json!({"metadata": {"name": "settings"}, "data": {"host": "shared.example.org"}});
    KubeServer::shared().create("/api/v1/namespaces/head-shared/configmaps", &shared);
    for (parameters, name, resolved) in [
        (host(".data.port"), "host", r#"changed: '{"host":8080}'"#),
        (other_object, "host", r#"changed: '{"host":"shared.example.org"}'"#),
        (added, "more", r#"changed: '{"host":"example.org","more":8080}'"#),
        (renamed, "renamed", r#"changed: '{"renamed":"example.org"}'"#),
    ] {
        live.helm_application("web", &parameters);
        let output = diff(&live, &[]);
        let expected = error("web", &format!("{name:?}: not resolved: changed by head")) + HINT;
        assert_eq!((output.code, output.stdout.lines().count()), (5, 1), "{parameters}: {output:?}");
        assert!(output.stderr.starts_with(&expected), "{parameters}: {output:?}");
        let output = diff(&live, &["--resolve-head-references"]);
        assert_eq!((output.code, changes(&output)), (1, vec![base, resolved]), "{output:?}");
    }
    live.helm_application("web", &unknown);
    let expected = error("web", "\"host\": not resolved: changed by head") + HINT;
    let output = diff(&live, &[]);
    assert!(output.code == 5 && output.stderr.starts_with(&expected), "{output:?}");
}

#[test]
fn live_cluster_tells_its_versions_only_for_destinations_of_the_base() {
    let live = LiveWorld::in_checkout("versions");
    live.world.write("repo/chart/templates/version.yaml", VERSION);
    let mut project: Value = serde_json::from_str(&live.project("team")).expect("JSON");
    project["spec"]["destinations"] = json!([{"server": "*", "namespace": "versions*"}]);
    live.world.write("repo/store/project.yaml", &project.to_string());
    live.helm_application("web", &json!([]));
    let repository = Repository::init(live.world.path("repo"));
    repository.commit("one");
    let version = live.world.read("repo/chart/templates/version.yaml");
    live.world.write("repo/chart/templates/version.yaml", &version.replace("version:", "changed:"));
    let shown = |output: &Output| {
        let changed =
            output.stdout.lines().find_map(|line| line.strip_prefix("+  changed: ").map(str::to_owned));
        (changed, output.stderr.contains("the versions of the destination cluster are not read"))
    };
    let server = KubeServer::shared().read("/version")["gitVersion"].as_str().expect("a version").to_owned();
    assert_eq!(shown(&diff(&live, &[])), (Some(server.clone()), false));
    let mut application = live.application_of("web", "team", &json!([chart(&json!([]))]));
    application["spec"]["destination"]["namespace"] = json!("versions-shared");
    live.world.write("repo/store/web.yaml", &application.to_string());
    let output = diff(&live, &[]);
    let (version, is_reported) = shown(&output);
    assert!(version.is_some_and(|version| version != server) && is_reported, "{output:?}");
    assert_eq!(shown(&diff(&live, &["--resolve-head-references"])), (Some(server), false));
}

#[test]
fn new_application_project_or_destination_is_not_resolved() {
    let live = checkout("moved");
    // At the base, the project permits both namespaces.
    let destinations = json!([{"server": "*", "namespace": "moved*"}]);
    let mut project: Value = serde_json::from_str(&live.project("team")).expect("JSON");
    project["spec"]["destinations"] = destinations;
    let reference =
        json!({"kind": "ConfigMap", "name": "settings", "namespace": "moved", "path": ".data.host"});
    let sources = json!([chart(&json!([from_object("host", &reference)]))]);
    live.world.write("repo/store/project.yaml", &project.to_string());
    live.application("web", &sources);
    let repository = Repository::init(live.world.path("repo"));
    project["metadata"]["name"] = json!("other");
    live.world.write("repo/store/other.yaml", &project.to_string());
    repository.commit("two");
    project["metadata"]["name"] = json!("new");
    live.world.write("repo/store/new.yaml", &project.to_string());
    let template = live.world.read("repo/chart/templates/shown.yaml");
    live.world.write("repo/chart/templates/shown.yaml", &template.replace("changed:", "again:"));
    assert_eq!(changes(&diff(&live, &[])).len(), 2);

    let changed = Some("\"host\": not resolved: changed by head");
    let forbidden = Some("\"host\": access to the resource is forbidden by configuration");
    for (name, project, namespace, expected, trusted) in [
        ("web", "team", "moved-shared", changed, None),
        ("web", "other", "moved", changed, None),
        ("added", "team", "moved", changed, None),
        ("web", "new", "moved", forbidden, forbidden),
    ] {
        let mut application = live.application_of(name, project, &sources);
        application["spec"]["destination"]["namespace"] = json!(namespace);
        live.world.write(&format!("repo/store/{name}.yaml"), &application.to_string());
        for (options, expected) in [(&[][..], expected), (&["--resolve-head-references"], trusted)] {
            let output = diff(&live, &[&[name][..], options].concat());
            let errors: String = output.stderr.lines().filter(|line| line.starts_with("error")).collect();
            let expected = expected.map(|message| error(name, message));
            assert_eq!(
                errors,
                expected.unwrap_or_default().trim(),
                "{name} {project} {namespace}: {output:?}"
            );
        }
    }
}

#[test]
fn folders_answer_references_of_the_head() {
    let live = checkout("folders");
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "folders"},
        "data": {"host": "folder.example.org", "port": "1"}
    });
    live.world.write("state/settings.yaml", &object.to_string());
    live.helm_application("web", &host(".data.port"));
    let expected = vec![r#"values: '{"host":"folder.example.org"}'"#, r#"changed: '{"host":1}'"#];
    for options in
        [&["--cluster-state=state"][..], &["--cluster-state=state", "--config=kubeconfig=kubeconfig"]]
    {
        let output = live.run(&[&["diff", "--base=HEAD"], options].concat());
        assert_eq!((output.code, changes(&output)), (1, expected.clone()), "{output:?}");
    }
}
