//! A world with a live cluster: the real API server, a kubeconfig, a chart and a plugin that show their parameters.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer};
use tiphys_testkit::{tools, workspace_root};

use crate::world::{Output, TIPHYS, URL, World};

/// A plugin that gets parameters in its environment.
const SHOW: &str = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: show}
spec: {generate: {command: [show.sh]}}
";

/// Its program.
const SHOW_PROGRAM: &str = "#!/bin/sh
cat <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: shown}
data:
  parameters: |
    $ARGOCD_APP_PARAMETERS
END
";

/// The template of the chart.
const SHOW_VALUES: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: shown}
data: {values: {{ .Values | toJson | quote }}}
";

/// A world, and a namespace of the API server with the ConfigMap `settings`.
///
/// The store has the project `team`, which permits the namespace, all look-ups in it, and the ConfigMap `settings` of the namespace
/// `NAMESPACE-shared`.
pub(crate) struct LiveWorld {
    pub(crate) world: World,
    pub(crate) namespace: &'static str,
    /// The store's directory.
    store: &'static str,
}

impl LiveWorld {
    /// A world with this namespace, which no other test has.
    pub(crate) fn new(namespace: &'static str) -> Self {
        Self::with_store(namespace, "store")
    }

    /// The same with the store `repo/store` in the repository.
    pub(crate) fn in_checkout(namespace: &'static str) -> Self {
        Self::with_store(namespace, "repo/store")
    }

    fn with_store(namespace: &'static str, store: &'static str) -> Self {
        let world = World::empty().with_programs(&[tools::program("helm")]);
        let live = Self { world, namespace, store };
        live.world
            .write("repo/chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
            .write("repo/chart/templates/shown.yaml", SHOW_VALUES)
            .write("repo/plain/empty.yaml", "")
            .write("plugins/show/plugin.yaml", SHOW)
            .write("plugins/show/show.sh", SHOW_PROGRAM)
            .write(&format!("{store}/project.yaml"), &live.project("team"))
            .write("ca.pem", KubeServer::shared().ca_pem());
        live.kubeconfig("kubeconfig", ADMIN_TOKEN);
        for namespace in [namespace.to_owned(), live.shared()] {
            let namespace = json!({"metadata": {"name": namespace}});
            KubeServer::shared().create("/api/v1/namespaces", &namespace);
        }
        live.config_map("settings", &json!({"host": "example.org", "port": "8080", "note": "a, b={c}"}));
        live
    }

    /// The namespace outside of the project's destinations.
    pub(crate) fn shared(&self) -> String {
        format!("{}-shared", self.namespace)
    }

    /// The project of the store under a name.
    pub(crate) fn project(&self, name: &str) -> String {
        let entry = json!({"group": "", "kind": "ConfigMap", "namespace": self.shared(), "name": "settings"});
        let project = json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "AppProject",
            "metadata": {"name": name},
            "spec": {
                "sourceRepos": ["*"],
                "destinations": [{"server": "*", "namespace": self.namespace}],
                "namespaceReadOnlyAllowlist": [entry],
            }
        });
        project.to_string()
    }

    /// Creates a ConfigMap in the namespace.
    pub(crate) fn config_map(&self, name: &str, data: &Value) {
        let path = format!("/api/v1/namespaces/{}/configmaps", self.namespace);
        KubeServer::shared().create(&path, &json!({"metadata": {"name": name}, "data": data}));
    }

    /// Writes a kubeconfig with the context `main`.
    pub(crate) fn kubeconfig(&self, file: &str, token: &str) {
        self.kubeconfig_of(file, &KubeServer::shared().url(), &json!({"token": token}));
    }

    /// The same for another server, or a user with other credentials.
    pub(crate) fn kubeconfig_of(&self, file: &str, server: &str, user: &Value) {
        let cluster = json!({"server": server, "certificate-authority": "ca.pem"});
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "main",
            "clusters": [{"name": "main", "cluster": cluster}],
            "users": [{"name": "main", "user": user}],
            "contexts": [{"name": "main", "context": {"cluster": "main", "user": "main"}}],
        });
        self.world.write(file, &kubeconfig.to_string());
    }

    /// Writes a Secret with which Argo CD reaches the server as `live`.
    pub(crate) fn cluster_secret(&self, file: &str, token: &str) {
        let server = KubeServer::shared();
        let config = json!({
            "bearerToken": token,
            "tlsClientConfig": {"caData": STANDARD.encode(server.ca_pem())},
        });
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "live", "labels": {"argocd.argoproj.io/secret-type": "cluster"}},
            "stringData": {"name": "live", "server": server.url(), "config": config.to_string()},
        });
        self.world.write(file, &secret.to_string());
    }

    /// Writes an application of the project `team` whose source is the chart.
    pub(crate) fn helm_application(&self, name: &str, parameters: &Value) {
        self.application(name, &json!([chart(parameters)]));
    }

    /// Writes an application of the project `team` whose source has the plugin `show`.
    pub(crate) fn plugin_application(&self, name: &str, parameters: &Value) {
        self.application(name, &json!([plugin(parameters)]));
    }

    /// Writes an application of the project `team` with these sources.
    pub(crate) fn application(&self, name: &str, sources: &Value) {
        let file = format!("{}/{name}.yaml", self.store);
        self.world.write(&file, &self.application_of(name, "team", sources).to_string());
    }

    /// An application with these sources.
    pub(crate) fn application_of(&self, name: &str, project: &str, sources: &Value) -> Value {
        json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": name},
            "spec": {
                "project": project,
                "sources": sources,
                "destination": {"server": "https://kubernetes.default.svc", "namespace": self.namespace},
            }
        })
    }

    /// Runs a command with the plugins, the store and the repository.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.world.finish(self.command(args))
    }

    /// The same with the kubeconfig.
    pub(crate) fn run_live(&self, args: &[&str]) -> Output {
        self.run(&[args, &["--config=kubeconfig=kubeconfig"]].concat())
    }

    /// A command with the plugins, the store and the repository.
    pub(crate) fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.world.command(TIPHYS);
        command.args(args).args(["--plugins=plugins", "--store", self.store]);
        command.arg(format!("--plugins={}", workspace_root().join("plugins/helm").display()));
        command.arg(format!("--repo={URL}=repo"));
        command
    }
}

/// A source with the chart.
pub(crate) fn chart(parameters: &Value) -> Value {
    json!({"repoURL": URL, "path": "chart", "helm": {"dynamicParameters": parameters}})
}

/// A source with the plugin `show`.
pub(crate) fn plugin(parameters: &Value) -> Value {
    json!({"repoURL": URL, "path": "plain", "plugin": {"name": "show", "dynamicParameters": parameters}})
}

/// A parameter from a ConfigMap of the application's namespace.
pub(crate) fn from_config_map(parameter: &str, name: &str, path: &str) -> Value {
    from_object(parameter, &json!({"kind": "ConfigMap", "name": name, "path": path}))
}

/// A parameter with this reference.
pub(crate) fn from_object(parameter: &str, reference: &Value) -> Value {
    json!({"name": parameter, "resourceRef": reference})
}
