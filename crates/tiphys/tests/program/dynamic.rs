//! Dynamic parameters from a live cluster: values, and the errors of the proposal.

use serde_json::{Value, json};
use tiphys_testkit::chart::Chart;
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer, LIMITED_TOKEN};
use tiphys_testkit::wait::until;

use crate::live::{LiveWorld, chart, from_config_map, from_object, plugin};
use crate::world::Output;

/// The proposal's example, as written.
const EXAMPLE: &str = r#"kind: Application
apiVersion: argoproj.io/v1alpha1
metadata:
  name: foo-app
spec:
  project: default
  source:
    repoURL: https://some.helm.repo.com
    chart: foo
    targetRevision: 1.0.x
    helm:
      parameters:
      - name: foo
        value: bar
      dynamicParameters:
      - name: bar
        forceString: true # optional, will use --set-string
        resourceRef:
          kind: ConfigMap
          group: ""
          name: some-cm
          namespace: some-ns # if omitted, use target namespace
          path: .data.somekey # if omitted, set param to true if resource exists or to false if resource does not exist
  destination:
    server: https://kubernetes.default.svc
    namespace: foo-app
"#;

/// The project of the example, which permits the look-up.
const EXAMPLE_PROJECT: &str = "apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default}
spec:
  sourceRepos: ['*']
  destinations: [{server: '*', namespace: foo-app}]
  namespaceReadOnlyAllowlist: [{group: '', kind: ConfigMap, namespace: some-ns}]
";

/// The values of the chart, as the rendered object shows them.
fn shown(output: &Output) -> Value {
    assert_eq!(output.code, 0, "{}", output.stderr);
    let list: Value = serde_json::from_str(&output.stdout).expect("a list");
    let data = &list["items"][0]["data"];
    let shown = data["values"].as_str().or(data["parameters"].as_str()).unwrap_or_else(|| panic!("{list}"));
    serde_json::from_str(shown).expect("JSON")
}

fn error(message: &str) -> Output {
    Output { code: 3, stdout: String::new(), stderr: format!("error: {message}\n") }
}

#[test]
fn example_of_the_proposal_is_rendered() {
    let live = LiveWorld::new("example");
    let (world, server) = (&live.world, KubeServer::shared());
    server.create("/api/v1/namespaces", &json!({"metadata": {"name": "some-ns"}}));
    let some_cm = json!({"metadata": {"name": "some-cm"}, "data": {"somekey": "1"}});
    server.create("/api/v1/namespaces/some-ns/configmaps", &some_cm);
    let template = world.read("repo/chart/templates/shown.yaml");
    let chart = Chart::new("foo", "1.0.3").with("templates/shown.yaml", &template);
    std::fs::create_dir(world.path("packed")).expect("made");
    std::fs::write(world.path("packed").join(chart.archive_name()), chart.pack()).expect("written");
    world.write("store/foo-app.yaml", EXAMPLE).write("store/default.yaml", EXAMPLE_PROJECT);
    live.cluster_secret("secrets/live.yaml", ADMIN_TOKEN);
    let render = |options: &[&str]| {
        let args = ["render", "foo-app", "-o=json", "--repo=https://some.helm.repo.com=packed"];
        live.run(&[&args, options].concat())
    };
    let in_folder = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "some-cm", "namespace": "some-ns"}, "data": {"somekey": "1"}});
    world.write("state/some-cm.yaml", &in_folder.to_string());
    let expected = json!({"foo": "bar", "bar": "1"});
    assert_eq!(shown(&render(&["--config=kubeconfig=kubeconfig"])), expected);
    assert_eq!(shown(&render(&["--config=kubeconfig=kubeconfig", "--context=main"])), expected);
    assert_eq!(shown(&render(&["--cluster-state=state"])), expected);
    // A Secret names the cluster by its URL.
    world.write(
        "store/foo-app.yaml",
        &EXAMPLE.replace("server: https://kubernetes.default.svc", "name: live"),
    );
    assert_eq!(shown(&render(&["--config=clusterSecrets=secrets"])), expected);
    world.write("store/foo-app.yaml", &EXAMPLE.replace("https://kubernetes.default.svc", &server.url()));
    assert_eq!(shown(&render(&["--config=clusterSecrets=secrets"])), expected);
}

#[test]
fn values_of_a_live_cluster_are_exact() {
    let live = LiveWorld::new("values");
    let parameters = json!([
        from_config_map("host", "settings", ".data.host"),
        from_config_map("port", "settings", ".data.port"),
        from_config_map("note", "settings", "data.note"),
        from_config_map("all", "settings", "{.data}"),
        from_object("exists", &json!({"kind": "ConfigMap", "name": "settings"})),
        from_object("missing", &json!({"kind": "ConfigMap", "name": "other"})),
        from_object("phase", &json!({"kind": "Namespace", "name": "values", "path": ".status.phase"})),
    ]);
    let of_project = live.project("team").replace(
        "\"spec\":{",
        "\"spec\":{\"clusterReadOnlyAllowList\":[{\"group\":\"\",\"kind\":\"Namespace\",\"name\":\"values\"}],",
    );
    live.world.write("store/project.yaml", &of_project);
    live.helm_application("web", &parameters);
    let expected = json!({
        "host": "example.org", "port": 8080, "note": "a, b={c}", "exists": true, "missing": false, "phase": "Active",
        "all": {"host": "example.org", "port": "8080", "note": "a, b={c}"},
    });
    assert_eq!(shown(&live.run_live(&["render", "web", "-o=json"])), expected);
    live.plugin_application("web", &parameters);
    let expected = json!([
        {"name": "host", "string": "example.org"},
        {"name": "port", "string": "8080"},
        {"name": "note", "string": "a, b={c}"},
        {"name": "all", "map": {"host": "example.org", "port": "8080", "note": "a, b={c}"}},
        {"name": "exists", "string": "true"},
        {"name": "missing", "string": "false"},
        {"name": "phase", "string": "Active"},
    ]);
    assert_eq!(shown(&live.run_live(&["render", "web", "-o=json"])), expected);
}

#[test]
fn forbidden_look_up_hides_whether_the_object_exists() {
    let live = LiveWorld::new("forbidden");
    let path = "/api/v1/namespaces/forbidden-shared/configmaps";
    let server = KubeServer::shared();
    server.create(path, &json!({"metadata": {"name": "there"}, "data": {"host": "hidden.example.org"}}));
    server.create(
        "/api/v1/namespaces/forbidden/secrets",
        &json!({"metadata": {"name": "there"}, "stringData": {"host": "hidden.example.org"}}),
    );
    let expected = error(
        "application web (store/web.yaml:1:1): dynamic parameter \"host\": access to the resource is forbidden by configuration",
    );
    let shared = json!({"kind": "ConfigMap", "namespace": "forbidden-shared"});
    for reference in [shared, json!({"kind": "Secret"}), json!({"kind": "Node"})] {
        for path in [".data.host", ""] {
            for options in [&[][..], &["-v"], &["-vvv"]] {
                let render = |name: &str| {
                    let mut reference = reference.clone();
                    reference["name"] = json!(name);
                    reference["path"] = json!(path);
                    live.helm_application("web", &json!([from_object("host", &reference)]));
                    let mut output = live.run_live(&[&["render", "web"], options].concat());
                    // The rule names the object; times and durations of the log differ.
                    let lines = output.stderr.lines().filter(|line| line.starts_with("error"));
                    let errors: String = lines.flat_map(|line| [line, "\n"]).collect();
                    assert!(!output.stderr.contains("hidden.example.org"));
                    if options.is_empty() {
                        assert_eq!(errors, output.stderr);
                    } else {
                        assert!(output.stderr.contains("project 'team'"), "{}", output.stderr);
                    }
                    output.stderr = errors;
                    output
                };
                let (existing, missing) = (render("there"), render("none"));
                assert_eq!(existing, missing, "{reference} {path} {options:?}");
                assert_eq!(existing, expected, "{reference} {path} {options:?}");
            }
        }
    }
}

#[test]
fn object_that_kubernetes_forbids_counts_as_missing() {
    let live = LiveWorld::new("limited");
    live.kubeconfig("limited", LIMITED_TOKEN);
    let not_found = |name: &str| {
        error(&format!(
            "application web (store/web.yaml:1:1): dynamic parameter \"host\": resource not found: ConfigMap limited/{name}"
        ))
    };
    for (name, path, kubeconfig, expected) in [
        ("settings", ".data.host", "limited", Some(not_found("settings"))),
        ("other", ".data.host", "limited", Some(not_found("other"))),
        ("other", ".data.host", "kubeconfig", Some(not_found("other"))),
        ("settings", "", "limited", Some(not_found("settings"))),
        ("other", "", "limited", Some(not_found("other"))),
        ("other", "", "kubeconfig", None),
    ] {
        live.helm_application("web", &json!([from_config_map("host", name, path)]));
        let output = live.run(&["render", "web", "-o=json", &format!("--config=kubeconfig={kubeconfig}")]);
        match expected {
            Some(expected) => assert_eq!(output, expected, "{name} {path} {kubeconfig}"),
            None => assert_eq!(shown(&output), json!({"host": false})),
        }
    }
}

#[test]
fn unknown_kinds_and_fields_are_named() {
    let live = LiveWorld::new("unknown");
    let service = json!({
        "metadata": {"name": "v1.dead.example.org"},
        "spec": {
            "group": "dead.example.org", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10,
            "insecureSkipTLSVerify": true, "service": {"namespace": "default", "name": "missing"}
        }
    });
    let server = KubeServer::shared();
    server.create("/apis/apiregistration.k8s.io/v1/apiservices", &service);
    // The server reads services asynchronously.
    until(|| server.read("/apis").to_string().contains("dead.example.org").then_some(()));
    for (mut reference, expected) in [
        (
            json!({"kind": "ConfigMaps"}),
            "the cluster serves no kind ConfigMaps in the core group; did you mean ConfigMap?",
        ),
        (
            json!({"kind": "Deploymnet", "group": "apps"}),
            "the cluster serves no kind Deploymnet in the group \"apps\"; did you mean Deployment?",
        ),
        (
            json!({"kind": "Deployment", "group": "app"}),
            "the cluster serves no API group \"app\"; did you mean apps?",
        ),
        (
            json!({"kind": "Ingress"}),
            "the cluster serves no kind Ingress in the core group; did you mean Ingress.networking.k8s.io?",
        ),
        (
            json!({"kind": "Any", "group": "dead.example.org"}),
            "the cluster cannot report the kinds of the group \"dead.example.org\"; check its APIService (`kubectl get apiservices`)",
        ),
        (
            json!({"kind": "ConfigMap", "version": "v2"}),
            "the cluster does not serve ConfigMap of the core group in version v2, but in v1",
        ),
        (
            json!({"kind": "ConfigMap", "path": ".data.hots"}),
            "path .data.hots does not exist in ConfigMap unknown/settings",
        ),
        (
            json!({"kind": "ConfigMap", "path": ".data[0]"}),
            "ConfigMap unknown/settings: path .data[0]: [0] must follow a list",
        ),
    ] {
        reference["name"] = json!("settings");
        live.helm_application("web", &json!([from_object("host", &reference)]));
        let expected =
            format!("application web (store/web.yaml:1:1): dynamic parameter \"host\": {expected}");
        assert_eq!(live.run_live(&["render", "web"]), error(&expected), "{reference}");
    }
}

#[test]
fn all_unresolved_parameters_are_named() {
    let live = LiveWorld::new("several");
    let first =
        json!([from_config_map("a", "settings", ".data.none"), from_config_map("b", "other", ".data.host")]);
    let second = json!([
        from_config_map("c", "settings", ".data.host"),
        from_object("d", &json!({"kind": "Nothing", "name": "x"})),
        from_object("e", &json!({"kind": "Secret", "name": "x"})),
    ]);
    live.application("web", &json!([chart(&first), plugin(&second)]));
    let expected = [
        "application web (store/web.yaml:1:1): source 1: dynamic parameter \"a\": path .data.none does not exist in ConfigMap several/settings",
        "source 1: dynamic parameter \"b\": resource not found: ConfigMap several/other",
        "source 2: dynamic parameter \"d\": the cluster serves no kind Nothing in the core group",
        "source 2: dynamic parameter \"e\": access to the resource is forbidden by configuration",
    ];
    assert_eq!(live.run_live(&["render", "web"]), error(&expected.join("; ")));
}
