//! Which projects permit look-ups in a live cluster, and clusters that cannot be read.

use serde_json::{Value, json};
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer};

use crate::live::{LiveWorld, chart, from_config_map};
use crate::world::Output;

const FORBIDDEN: &str = "error: application web (store/web.yaml:1:1): dynamic parameter \"host\": access to the resource is forbidden by configuration\n";

/// One parameter.
fn host() -> Value {
    json!([from_config_map("host", "settings", ".data.host")])
}

/// Writes an application of a project with one parameter.
fn application(live: &LiveWorld, project: &str) {
    let application = live.application_of("web", project, &json!([chart(&host())]));
    live.world.write("store/web.yaml", &application.to_string());
}

fn failed(code: i32, stderr: &str) -> Output {
    Output { code, stdout: String::new(), stderr: stderr.to_owned() }
}

#[test]
fn project_of_a_checkout_permits_no_live_look_up() {
    let live = LiveWorld::new("checkout");
    live.world.write("repo/own.yaml", &live.project("own"));
    application(&live, "own");
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "checkout"}, "data": {"host": "example.org"}});
    live.world.write("state/settings.yaml", &object.to_string());
    let render = |options: &[&str]| {
        live.run(&[&["render", "web", "-o=name", "--store=repo/own.yaml"], options].concat())
    };
    let rendered = Output { code: 0, stdout: "configmap/shown\n".to_owned(), stderr: String::new() };
    assert_eq!(render(&["--config=kubeconfig=kubeconfig"]), failed(3, FORBIDDEN));
    assert_eq!(
        render(&["--config=kubeconfig=kubeconfig", "--config=trustRepositorySettings=repo"]),
        rendered
    );
    assert_eq!(render(&["--cluster-state=state"]), rendered);
    // A folder of another cluster answers nothing for this one.
    assert_eq!(
        render(&["--config=kubeconfig=kubeconfig", "--cluster-state=other=state"]),
        failed(3, FORBIDDEN)
    );
}

#[test]
fn cluster_of_another_project_is_not_read() {
    let live = LiveWorld::new("scoped");
    let url = KubeServer::shared().url();
    let mut application = live.application_of("web", "team", &json!([chart(&host())]));
    application["spec"]["destination"]["server"] = json!(url);
    live.world.write("store/web.yaml", &application.to_string());
    live.cluster_secret("all.yaml", ADMIN_TOKEN);
    let secret = live.world.read("all.yaml");
    for (project, code) in [("team", 0), ("other", 3)] {
        for server in [url.clone(), format!("{url}/"), format!("{url}\n"), format!(" {url}/ ")] {
            let mut scoped: Value = serde_json::from_str(&secret).expect("JSON");
            scoped["stringData"]["server"] = json!(server);
            scoped["stringData"]["project"] = json!(project);
            live.world.write("scoped.yaml", &scoped.to_string());
            let output = live.run(&["render", "web", "-o=name", "--config=clusterSecrets=scoped.yaml"]);
            assert_eq!(output.code, code, "{server:?} {project}: {}", output.stderr);
        }
    }
}

#[test]
fn missing_and_reported_projects_permit_no_look_up() {
    let live = LiveWorld::new("projects");
    let missing = "warning: project none was not found, so its rules are not applied; --config projects=PATH names the folder with all AppProjects\n";
    for (project, options, warning) in
        [("none", &[][..], missing), ("default", &[], ""), ("team", &["--config=projectRules=warn"], "")]
    {
        application(&live, project);
        let output = live.run_live(&[&["render", "web"], options].concat());
        assert_eq!(output, failed(3, &[warning, FORBIDDEN].concat()), "{project}");
    }
}

#[test]
fn cluster_that_cannot_be_read_is_named() {
    let live = LiveWorld::new("unreadable");
    application(&live, "team");
    let server = KubeServer::shared();
    live.kubeconfig("expired", "expired-token");
    live.kubeconfig_of("closed", "https://127.0.0.1:1", &json!({"token": ADMIN_TOKEN}));
    live.world.write("hang.sh", "#!/bin/sh\nexec tail -f /dev/null\n");
    let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "./hang.sh", "interactiveMode": "Never"});
    live.kubeconfig_of("hanging", &server.url(), &json!({"exec": exec}));
    live.world.write("without-context", "apiVersion: v1\nkind: Config\n");
    live.cluster_secret("repo/secrets.yaml", ADMIN_TOKEN);
    // The plugin's environment has the versions of the cluster, which are read first.
    let of_versions = "source https://git.example.org/team/apps.git at HEAD, path chart: cannot read the versions of the destination: ";
    let of_parameter = "dynamic parameter \"host\": ";
    let no_access = "no access to the destination cluster https://kubernetes.default.svc was given\n\
                     hint: --cluster-state DIR names a folder of that cluster's live objects, --context CONTEXT the cluster itself";
    for (options, place, expected) in [
        (
            &["--config=kubeconfig=expired"][..],
            of_versions,
            "cluster main: cannot list its kinds: the server refused the credentials; renew them: HTTP status 401",
        ),
        (
            &["--config=kubeconfig=closed", "--limit=kube-request-timeout=1"],
            of_versions,
            "cluster main: cannot list its kinds: the server cannot be reached; check its address, CA certificate and proxy: \
             client error (Connect): tcp connect error: Connection refused (os error 111)",
        ),
        (
            &["--config=kubeconfig=hanging", "--limit=kube-exec-timeout=1"],
            of_versions,
            "cluster main: cannot list its kinds: its connection settings cannot be used: \
             the credential plugin $WORLD/./hang.sh of the kubeconfig did not end within 1 s: limit kube-exec-timeout",
        ),
        (&["--config=kubeconfig=kubeconfig", "--context=other=main"], of_parameter, no_access),
        (&[], of_parameter, no_access),
    ] {
        let output = live.run(&[&["render", "web"], options].concat());
        assert_eq!(
            output,
            failed(3, &format!("error: application web (store/web.yaml:1:1): {place}{expected}\n")),
            "{options:?}"
        );
    }
}

#[test]
fn invalid_option_of_a_live_cluster_is_exit_2() {
    let live = LiveWorld::new("options");
    application(&live, "team");
    live.world.write("without-context", "apiVersion: v1\nkind: Config\n");
    live.cluster_secret("repo/secrets.yaml", ADMIN_TOKEN);
    live.world.write("second", &live.world.read("kubeconfig").replace("\"main\"", "\"second\""));
    live.cluster_secret("one.yaml", ADMIN_TOKEN);
    live.cluster_secret("two.yaml", ADMIN_TOKEN);
    let two_secrets = format!(
        "--config clusterSecrets: cluster \"{}\" has two Secrets: live (one.yaml:1:1) and live (two.yaml:1:1); remove one",
        KubeServer::shared().url()
    );
    for (options, expected) in [
        (
            &["--config=kubeconfig=without-context"][..],
            "--config kubeconfig: the kubeconfig has no `current-context`",
        ),
        (
            &["--config=kubeconfig=kubeconfig", "--context=other"],
            "--config kubeconfig: the kubeconfig has no context \"other\"; it has: main",
        ),
        (
            &["--config=kubeconfig=none"],
            "--config kubeconfig: no kubeconfig found: $WORLD/none does not exist",
        ),
        (
            &["--config=kubeconfig=kubeconfig", "--offline"],
            "--offline: clusters cannot be read without the network; use folders of live objects instead",
        ),
        (
            &["--config=clusterSecrets=repo/secrets.yaml"],
            "--config clusterSecrets: repo/secrets.yaml is in a repository that is rendered, which must not choose the clusters that are \
             read; move it out of the checkout",
        ),
        (
            &["--config=clusterSecrets=."],
            "--config clusterSecrets: ./repo/secrets.yaml is in a repository that is rendered, which must not choose the clusters that \
             are read; move it out of the checkout",
        ),
        (
            &[
                "--config=kubeconfig=kubeconfig",
                "--config=kubeconfig=second",
                "--context=main",
                "--context=second",
            ],
            "cluster \"https://kubernetes.default.svc\" has two connections: context \"main\" and context \"second\"; remove one\n\
             hint: --context NAME=CONTEXT names the cluster of each context",
        ),
        (&["--config=clusterSecrets=one.yaml", "--config=clusterSecrets=two.yaml"], &two_secrets),
        (
            &["--config=inCluster=true"],
            "--config inCluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
        ),
    ] {
        let output = live.run(&[&["render", "web"], options].concat());
        assert_eq!(output, failed(2, &format!("error: {expected}\n")), "{options:?}");
    }
}
