//! `tiphys diff` with a real API server.

use std::sync::OnceLock;

use serde_json::{Value, json};
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer, LIMITED_TOKEN, RECORDED_TOKEN};
use tiphys_testkit::wait::until;

use crate::world::{Output, URL, World};

/// Objects whose stored form differs from the written one: defaults, quantities, lists with keys, strings of Secrets.
const OBJECTS: &str = include_str!("live_diff.yaml");

/// A world with one application, whose name is that of its namespace, too.
struct Application {
    server: &'static KubeServer,
    world: World,
}

impl Application {
    /// `manifests` are rendered. The server of all tests has the namespace.
    fn new(name: &'static str, manifests: &str) -> Self {
        // Other tests change the kinds of the shared server.
        static SERVER: OnceLock<KubeServer> = OnceLock::new();
        Self::on(SERVER.get_or_init(KubeServer::start), name, manifests)
    }

    fn on(server: &'static KubeServer, name: &'static str, manifests: &str) -> Self {
        server.create("/api/v1/namespaces", &json!({"metadata": {"name": name}}));
        let world = World::new();
        let application = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n  source: {{repoURL: {URL}, path: plain}}\n  \
             destination: {{server: https://kubernetes.default.svc, namespace: {name}}}\n"
        );
        world.write("store/app.yaml", &application).write("admin", &server.kubeconfig(ADMIN_TOKEN));
        let application = Self { server, world };
        application.renders(manifests);
        application
    }

    fn renders(&self, manifests: &str) {
        self.world.write("repo/plain/configmap.yaml", manifests);
    }

    fn run(&self, args: &[&str]) -> Output {
        let repo = format!("--repo={URL}=repo");
        self.world.run(&[args, &["--store=store", &repo, "--config=projectRules=warn"]].concat())
    }

    /// The code and standard output of `diff -o name`, and the warnings.
    fn diff(&self, kubeconfig: &str) -> (i32, String, Vec<String>) {
        let Output { code, stdout, stderr } =
            self.run(&["diff", "-o", "name", &format!("--config=kubeconfig={kubeconfig}")]);
        let warnings =
            stderr.lines().filter(|line| line.starts_with("warning:") && !line.contains("project"));
        (code, stdout, warnings.map(str::to_owned).collect())
    }

    fn rendered(&self) -> Vec<Value> {
        let output = self.run(&["render", "-o", "json", "--set-namespace", "--config=kubeconfig=admin"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let list: Value = serde_json::from_str(&output.stdout).expect("JSON");
        list["items"].as_array().expect("a list").clone()
    }

    /// Creates the rendered objects, as `kubectl apply` does.
    fn apply(&self) {
        for mut object in self.rendered() {
            let applied = object.to_string();
            object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
                applied.into();
            self.server.create(&collection(&object), &object);
        }
    }
}

/// Nothing differs, and nothing is reported.
fn equal() -> (i32, String, Vec<String>) {
    (0, String::new(), Vec::new())
}

/// The URL path of an object's collection.
fn collection(object: &Value) -> String {
    let version = object["apiVersion"].as_str().expect("an API version");
    let kind = object["kind"].as_str().expect("a kind").to_lowercase();
    let plural = match kind.as_str() {
        "ingress" => "ingresses".to_owned(),
        "networkpolicy" => "networkpolicies".to_owned(),
        _ => format!("{kind}s"),
    };
    let prefix = if version.contains('/') { "apis" } else { "api" };
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/{prefix}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("/{prefix}/{version}/{plural}"),
    }
}

fn config_map(name: &str, value: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: {value}}}\n")
}

#[test]
fn applied_objects_do_not_differ() {
    let application = Application::new("live-applied", OBJECTS);
    let (code, added, _) = application.diff("admin");
    assert_eq!((code, added.lines().count()), (1, application.rendered().len()), "{added}");
    application.apply();
    assert_eq!(application.diff("admin"), equal());
    // Another writer adds items to lists with keys, and fields.
    let path = "/apis/apps/v1/namespaces/live-applied/deployments/web";
    let mut deployment = application.server.read(path);
    let pod = &mut deployment["spec"]["template"]["spec"];
    let containers = pod["containers"].as_array_mut().expect("containers");
    containers.insert(0, json!({"name": "sidecar", "image": "sidecar:1"}));
    pod["nodeSelector"] = json!({"disk": "fast"});
    application.server.replace(path, &deployment);
    assert_eq!(application.diff("admin"), equal());
    application.renders(&OBJECTS.replace("image: web:1", "image: web:2").replace("cpu: 0.5", "cpu: 0.6"));
    let expected = "live-applied: changed apps/Deployment live-applied/web\n";
    assert_eq!(application.diff("admin"), (1, expected.to_owned(), Vec::new()));
}

#[test]
fn objects_that_are_not_rendered_any_more_are_removed() {
    let all = [config_map("kept", "a"), config_map("gone", "value-of-gone"), config_map("deleted", "c")];
    let application = Application::new("live-removed", &all.concat());
    application.apply();
    let path = "/api/v1/namespaces/live-removed/configmaps";
    for name in ["kept", "deleted"] {
        let mut object = application.server.read(&format!("{path}/{name}"));
        object["metadata"]["finalizers"] = json!(["example.org/wait"]);
        application.server.replace(&format!("{path}/{name}"), &object);
        application.server.delete(&format!("{path}/{name}"));
    }
    application.renders(&all[0]);
    let warning = "warning: live-removed: ConfigMap live-removed/kept is being deleted; a sync after that creates it again";
    let expected =
        (1, "live-removed: removed ConfigMap live-removed/gone\n".to_owned(), vec![warning.to_owned()]);
    assert_eq!(application.diff("admin"), expected);
    // A removed object is shown as a whole, although the list had its metadata only.
    let shown = application.run(&["diff", "--config=kubeconfig=admin", "-v"]);
    assert!(shown.stdout.contains("\n-  k: value-of-gone\n"), "{}", shown.stdout);
    let left_out = "left out: ConfigMap live-removed/deleted is not rendered, and is being deleted already";
    assert!(shown.stderr.contains(left_out), "{}", shown.stderr);
}

#[test]
fn kinds_that_may_not_be_listed_are_reported_once() {
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: gone}\nstringData: {k: v}\n";
    let [kept, gone] = ["kept", "gone"].map(|name| config_map(name, "a"));
    let application = Application::new("live-limited", &format!("{kept}{gone}{secret}"));
    application.apply();
    let twin = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: live-twin}\nspec:\n  \
                source: {repoURL: https://git.example.org/team/apps.git, path: plain}\n  \
                destination: {server: https://kubernetes.default.svc, namespace: live-limited}\n";
    application.world.write("limited", &application.server.kubeconfig(LIMITED_TOKEN));
    application.server.permit("live-diff", &["get", "list"], "", &["configmaps"]);
    application.renders(&kept);
    let (code, stdout, warnings) = application.diff("limited");
    assert_eq!((code, stdout.as_str()), (1, "live-limited: removed ConfigMap live-limited/gone\n"));
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(
        warning.starts_with("warning: cluster \"https://kubernetes.default.svc\": cannot list "),
        "{warning}"
    );
    assert!(warning.ends_with(
        "whose objects are never reported as removed: permission denied; grant the user of this cluster the verb \"list\""
    ));
    application.world.write("store/twin.yaml", twin);
    let (_, _, warnings) = application.diff("limited");
    assert_eq!(warnings.iter().filter(|warning| warning.contains("cannot list")).count(), 1, "{warnings:?}");
    // A rendered object that may not be read is an error.
    application.renders(&format!("{kept}{secret}"));
    let output = application.run(&["diff", "--config=kubeconfig=limited", "live-limited"]);
    assert_eq!(output.code, 5);
    assert!(output.stdout.starts_with("# live-limited: not compared: "), "{}", output.stdout);
    assert!(output.stderr.contains("cannot get Secret: permission denied"), "{}", output.stderr);
}

#[test]
fn scopes_of_custom_kinds_come_from_the_cluster() {
    let custom = |kind: &str| {
        format!(
            "---\napiVersion: live.example.org/v1\nkind: {kind}\nmetadata: {{name: live-custom}}\nspec: {{size: 1}}\n"
        )
    };
    let application = Application::new("live-custom", &(custom("Tenant") + &custom("Room")));
    for (kind, plural, scope) in [("Tenant", "tenants", "Cluster"), ("Room", "rooms", "Namespaced")] {
        let schema =
            json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema});
        let names = json!({"kind": kind, "plural": plural, "singular": kind.to_lowercase()});
        let definition = json!({
            "metadata": {"name": format!("{plural}.live.example.org")},
            "spec": {"group": "live.example.org", "scope": scope, "names": names, "versions": [version]}
        });
        application.server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
        until(|| {
            let path = format!("/apis/live.example.org/v1/{plural}");
            (application.server.status_of(&path) == 200).then_some(())
        });
    }
    until(|| {
        let served = application.server.read("/apis/live.example.org/v1");
        (served["resources"].as_array().map(Vec::len) >= Some(2)).then_some(())
    });
    for object in ["Tenant", "Room"].map(|kind| {
        let namespace = (kind == "Room").then_some("live-custom");
        let id = format!("live-custom:live.example.org/{kind}:live-custom/live-custom");
        json!({
            "apiVersion": "live.example.org/v1",
            "kind": kind,
            "metadata": {"name": "live-custom", "namespace": namespace, "annotations": {"argocd.argoproj.io/tracking-id": id}},
            "spec": {"size": 1, "default": true}
        })
    }) {
        application.server.create(&collection(&object), &object);
    }
    assert_eq!(application.diff("admin"), equal());
    application.renders(&custom("Room"));
    let expected = "live-custom: removed live.example.org/Tenant live-custom\n";
    assert_eq!(application.diff("admin"), (1, expected.to_owned(), Vec::new()));
    // A project decides about kinds with the scopes of the cluster, also when nothing is compared.
    let project = "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: default, namespace: argocd}\nspec:\n  \
                   sourceRepos: ['*']\n  destinations: [{server: '*', namespace: '*'}]\n  \
                   clusterResourceWhitelist: [{group: '*', kind: '*'}]\n  \
                   namespaceResourceBlacklist: [{group: live.example.org, kind: Room}]\n";
    application.world.write("store/project.yaml", project);
    let render = ["render", "--store=store", "--repo=https://git.example.org/team/apps.git=repo"];
    let offline = application.world.run(&render);
    let live = application.world.run(&[&render[..], &["--config=kubeconfig=admin"]].concat());
    assert_eq!((offline.code, live.code), (0, 3), "{}", live.stderr);
    assert!(
        live.stderr.contains("resource live.example.org:Room is not permitted in project default"),
        "{}",
        live.stderr
    );
}

#[test]
fn plugins_get_the_versions_of_the_cluster() {
    let application = Application::new("live-versions", "");
    let version = application.server.read("/version")["gitVersion"].as_str().expect("a version").to_owned();
    let script = "#!/bin/sh\ncat <<END\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: versions}\n\
                  data: {kube: \"$KUBE_VERSION\", api: \"$(echo ,$KUBE_API_VERSIONS, | grep -o ,apps/v1/Deployment,)\"}\nEND\n";
    application.world.write("plugins/echo/echo.sh", script).write("repo/plain/echo.marker", "");
    let data = |args: &[&str]| {
        let output = application.run(&[&["render", "-o", "json", "--plugins=plugins"], args].concat());
        assert_eq!(output.code, 0, "{}", output.stderr);
        let list: Value = serde_json::from_str(&output.stdout).expect("JSON");
        list["items"][0]["data"].clone()
    };
    let version = version.trim_start_matches('v').to_owned();
    assert_eq!(data(&[]), json!({"kube": "", "api": ""}));
    let live = data(&["--config=kubeconfig=admin"]);
    assert_eq!(live["kube"].as_str().map(|kube| kube.trim_start_matches('v')), Some(version.as_str()));
    assert_eq!(live["api"], ",apps/v1/Deployment,");
    let given = data(&["--config=kubeconfig=admin", "--config=kubeVersion=1.20.0"]);
    assert_eq!(given, json!({"kube": "1.20.0", "api": ",apps/v1/Deployment,"}));
}

#[test]
fn requests_are_one_per_object_and_one_list_per_kind() {
    static SERVER: OnceLock<KubeServer> = OnceLock::new();
    let server = SERVER.get_or_init(KubeServer::start);
    let maps: String = (0..20).map(|index| config_map(&format!("m{index}"), "v")).collect();
    let application = Application::on(server, "live-counted", &maps);
    application.apply();
    let second = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: second}\nspec:\n  \
                  source: {repoURL: https://git.example.org/team/apps.git, path: plain}\n  \
                  destination: {name: in-cluster, namespace: live-counted}\n";
    application
        .world
        .write("store/second.yaml", second)
        .write("recorded", &server.kubeconfig(RECORDED_TOKEN));
    // One object less is rendered than live, so that it is read, too.
    application.renders(maps.strip_prefix(&config_map("m0", "v")).expect("the first object"));
    let (code, stdout, _) = application.diff("recorded");
    assert!(stdout.contains("live-counted: removed ConfigMap live-counted/m0\n"), "{stdout}");
    assert_eq!(code, 1);
    let requests = server.recorded();
    let of = |prefix: &str| requests.iter().filter(|request| request.starts_with(prefix)).count();
    // 19 rendered objects of two applications, which are the same objects, and one that is not rendered any more.
    assert_eq!(of("get /api/v1/namespaces/live-counted/configmaps/"), 20, "{requests:#?}");
    assert_eq!((of("get /version"), of("get /api")), (1, 2 + 20));
    let lists: Vec<&String> = requests.iter().filter(|request| request.starts_with("list ")).collect();
    let mut distinct = lists.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(lists.len(), distinct.len(), "{lists:#?}");
    assert!(lists.iter().all(|list| list.ends_with("?limit=500")), "{lists:#?}");
    // Discovery and the version.
    assert_eq!(requests.len(), 20 + lists.len() + 3, "{requests:#?}");
    // A group whose kinds the server cannot report.
    let service = json!({"namespace": "default", "name": "missing"});
    let service = json!({
        "metadata": {"name": "v1.dead.example.org"},
        "spec": {
            "group": "dead.example.org", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10,
            "insecureSkipTLSVerify": true, "service": service
        }
    });
    server.create("/apis/apiregistration.k8s.io/v1/apiservices", &service);
    until(|| server.read("/apis").to_string().contains("dead.example.org").then_some(()));
    let (_, _, warnings) = application.diff("admin");
    let expected = "warning: cluster \"https://kubernetes.default.svc\": cannot list all kinds of the group \"dead.example.org\", \
                    whose objects are never reported as removed: the server failed; check its APIServices";
    assert_eq!(warnings.iter().filter(|warning| *warning == expected).count(), 1, "{warnings:?}");
    application.renders("apiVersion: dead.example.org/v1\nkind: Any\nmetadata: {name: a}\n");
    let output = application.run(&["diff", "--config=kubeconfig=admin", "live-counted"]);
    assert_eq!(output.code, 5);
    assert!(output.stdout.starts_with("# live-counted: not compared: "), "{}", output.stdout);
    assert!(
        output.stderr.contains("the cluster cannot report the kinds of the group \"dead.example.org\""),
        "{}",
        output.stderr
    );
}
