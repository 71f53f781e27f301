//! The ApplicationSet controller on a real API server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tiphys_testkit::canned_server::{Canned, CannedServer, Pace};
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer, LIMITED_TOKEN};
use tiphys_testkit::wait::until;

use crate::running::Running;
use crate::world::World;

const ARGO: &str = "/apis/argoproj.io/v1alpha1";

/// A namespace with a default project, a controller for it, and its files.
pub(crate) struct Control {
    pub(crate) server: &'static KubeServer,
    pub(crate) namespace: String,
    pub(crate) world: World,
}

impl Control {
    pub(crate) fn new(namespace: &str) -> Self {
        Self::on(server(), namespace)
    }

    /// The same on another server.
    pub(crate) fn on(server: &'static KubeServer, namespace: &str) -> Self {
        let control = Self::without_project(server, namespace);
        let project = json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "default"},
            "spec": {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]},
        });
        control.server.create(&control.path("appprojects", ""), &project);
        control
    }

    /// The same without a project.
    pub(crate) fn without_project(server: &'static KubeServer, namespace: &str) -> Self {
        server.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}}));
        let control = Self { server, namespace: namespace.to_owned(), world: World::empty() };
        control.world.write("kubeconfig", &server.kubeconfig(ADMIN_TOKEN));
        control
    }

    pub(crate) fn start(&self, more: &[&str]) -> Running {
        self.world.start(&[&self.arguments(), more].concat())
    }

    /// Returns the arguments of a controller of the namespace.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        vec![
            "appset-controller",
            "--kubeconfig=kubeconfig",
            "--namespace",
            &self.namespace,
            "--metrics-addr=0",
            "--probe-addr=0",
            "--webhook-addr=0",
            "--logformat=text",
        ]
    }

    pub(crate) fn path(&self, plural: &str, name: &str) -> String {
        let path = format!("{ARGO}/namespaces/{}/{plural}", self.namespace);
        if name.is_empty() { path } else { format!("{path}/{name}") }
    }

    pub(crate) fn core(&self, plural: &str) -> String {
        format!("/api/v1/namespaces/{}/{plural}", self.namespace)
    }

    pub(crate) fn create_set(&self, name: &str, spec: &Value) {
        let template = json!({
            "metadata": {"name": "{{.name}}", "labels": {"team": "{{.team}}"}},
            "spec": {
                "project": "default",
                "source": {"repoURL": "https://git.example.org/apps.git", "path": "{{.name}}", "targetRevision": "main"},
                "destination": {"server": "https://kubernetes.default.svc", "namespace": "{{.team}}"},
            },
        });
        let mut set = json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": name},
            // Nothing handles finalizers here.
            "spec": {"goTemplate": true, "template": template, "syncPolicy": {"preserveResourcesOnDeletion": true}},
        });
        for (key, value) in spec.as_object().expect("an object") {
            set["spec"][key] = value.clone();
        }
        self.server.create(&self.path("applicationsets", ""), &set);
    }

    /// Returns the Applications as `name team`.
    pub(crate) fn applications(&self) -> Vec<String> {
        let list = self.server.read(&self.path("applications", ""));
        let of = |one: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            format!("{} {}", text(&one["metadata"]["name"]), text(&one["metadata"]["labels"]["team"]))
        };
        list["items"].as_array().expect("a list").iter().map(of).collect()
    }

    pub(crate) fn until_applications(&self, expected: &[&str]) {
        until(|| (self.applications() == expected).then_some(()));
    }

    /// Returns a condition as `status reason message`; empty if the set has none of the type.
    pub(crate) fn condition(&self, set: &str, kind: &str) -> String {
        let set = self.server.read(&self.path("applicationsets", set));
        let conditions = set["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|one| one["type"] == kind).cloned().unwrap_or_default();
        let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}", text("status"), text("reason"), text("message")).trim().to_owned()
    }

    pub(crate) fn until_condition(&self, set: &str, kind: &str, expected: &str) {
        until(|| self.condition(set, kind).contains(expected).then_some(()));
    }

    /// Returns the messages of the events of a set, in order.
    pub(crate) fn events(&self, set: &str) -> Vec<String> {
        let list = self.server.read(&self.core("events"));
        let events = list["items"].as_array().expect("a list").iter();
        let of_set = events.filter(|event| event["involvedObject"]["name"] == set);
        let mut found: Vec<String> =
            of_set.map(|event| event["message"].as_str().expect("a string").to_owned()).collect();
        found.sort();
        found
    }
}

/// The server of this test program, with the kinds of Argo CD.
pub(crate) fn server() -> &'static KubeServer {
    static SERVED: std::sync::Once = std::sync::Once::new();
    let server = KubeServer::shared();
    SERVED.call_once(|| server.serve_argo_cd());
    server
}

pub(crate) fn elements(list: &[(&str, &str)]) -> Value {
    let element = |(name, team): &(&str, &str)| json!({"name": name, "team": team});
    json!([{"list": {"elements": list.iter().map(element).collect::<Vec<_>>()}}])
}

#[test]
fn sets_become_applications() {
    let control = Control::new("sets");
    control.create_set("web", &json!({"generators": elements(&[("a", "x"), ("b", "y")])}));
    let running = control.start(&[]);
    control.until_applications(&["a x", "b y"]);
    control.until_condition("web", "ResourcesUpToDate", "True ApplicationSetUpToDate");
    let set = control.server.read(&control.path("applicationsets", "web"));
    assert_eq!(set["status"]["health"]["status"], "Healthy", "{set}");
    assert_eq!(set["status"]["resourcesCount"], 2, "{set}");
    let owner = &control.server.read(&control.path("applications", "a"))["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["name"], &owner["uid"]), (&json!("web"), &set["metadata"]["uid"]));

    // Changes by users are undone.
    let change = json!({"metadata": {"labels": {"team": "z"}}});
    control.server.patch(&control.path("applications", "a"), &change);
    control.until_applications(&["a x", "b y"]);

    let change = json!({"spec": {"generators": elements(&[("a", "w"), ("c", "y")])}});
    control.server.patch(&control.path("applicationsets", "web"), &change);
    control.until_applications(&["a w", "c y"]);
    until(|| (control.events("web").len() == 6).then_some(()));
    assert_eq!(
        control.events("web"),
        [
            "Deleted Application \"b\"",
            "created Application \"a\"",
            "created Application \"b\"",
            "created Application \"c\"",
            "updated Application \"a\"",
            "updated Application \"a\"",
        ]
    );

    // A failing template changes nothing.
    let change = json!({"spec": {"generators": elements(&[("a", "w")]), "template": {"metadata": {"name": "{{.nme}}-{{"}}}});
    control.server.patch(&control.path("applicationsets", "web"), &change);
    control.until_condition("web", "ErrorOccurred", "True RenderTemplateParamsError");
    assert_eq!(control.applications(), ["a w", "c y"]);
    running.signal(&control.world, "TERM");
    let output = running.finish(&control.world);
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn answers_of_a_plugin_service_are_followed_and_guarded() {
    let control = Control::new("plugins");
    let answer = Arc::new(Mutex::new(Canned::new(200, parameters(12))));
    let served = Arc::clone(&answer);
    let service = CannedServer::start(None, move |request| match request.header("Authorization") {
        Some("Bearer s3cret-token") => served.lock().expect("not poisoned").clone(),
        _ => Canned::new(403, ""),
    });
    let secret = json!({"metadata": {"name": "tokens"}, "stringData": {"teams": "wrong"}});
    control.server.create(&control.core("secrets"), &secret);
    let map =
        json!({"metadata": {"name": "teams"}, "data": {"baseUrl": service.url(), "token": "$tokens:teams"}});
    control.server.create(&control.core("configmaps"), &map);
    control.create_set(
        "teams",
        &json!({"generators": [{"plugin": {"configMapRef": {"name": "teams"}, "requeueAfterSeconds": 1}}]}),
    );
    let running = control.start(&[]);
    control.until_condition("teams", "ErrorOccurred", "True ApplicationGenerationFromParamsError");
    // A changed token counts at once, long before the pause after an error ends.
    let secret = json!({"stringData": {"teams": "s3cret-token"}});
    control.server.patch(&format!("{}/tokens", control.core("secrets")), &secret);
    until(|| (control.applications().len() == 12).then_some(()));
    control.until_condition("teams", "ErrorOccurred", "False");

    // A failure deletes nothing.
    *answer.lock().expect("not poisoned") = Canned::new(500, "{\"message\": \"broken\"}");
    control.until_condition("teams", "ErrorOccurred", "status code 500: broken");
    assert_eq!(control.applications().len(), 12);
    // Neither does an answer that lacks most of them. After an error, the set waits for minutes unless a user asks for a refresh.
    let set = control.path("applicationsets", "teams");
    *answer.lock().expect("not poisoned") = Canned::new(200, parameters(3));
    let refresh =
        json!({"metadata": {"annotations": {"argocd.argoproj.io/application-set-refresh": "true"}}});
    control.server.patch(&set, &refresh);
    control.until_condition("teams", "DeletionsGuarded", "True");
    assert_eq!(control.applications().len(), 12);
    assert_eq!(control.server.read(&set)["metadata"].get("annotations"), None);
    // An annotation of another generation does not release the guard.
    let allow = |generation: u64| json!({"metadata": {"annotations": {"tiphys/allow-deletions": generation.to_string()}}});
    control.server.patch(&set, &allow(99));
    let generation = control.server.read(&set)["metadata"]["generation"].as_u64().expect("a number");
    control.server.patch(&set, &allow(generation));
    until(|| (control.applications().len() == 3).then_some(()));
    running.signal(&control.world, "TERM");
    let output = running.finish(&control.world);
    assert!(!output.stderr.contains("s3cret-token"), "{}", output.stderr);
}

#[test]
fn application_belongs_to_the_set_that_has_it() {
    let control = Control::new("one-name");
    control.create_set("first", &json!({"generators": elements(&[("a", "x")])}));
    let _running = control.start(&[]);
    control.until_condition("first", "ResourcesUpToDate", "True");
    let application = control.path("applications", "a");
    let before = control.server.read(&application);

    control.create_set("second", &json!({"generators": elements(&[("a", "y"), ("b", "y")])}));
    control.until_condition("second", "ErrorOccurred", "Object one-name/a is already owned by another");
    assert_eq!(control.applications(), ["a x", "b y"]);
    assert_eq!(control.server.read(&application), before);
    // The end of the second set's wish leaves the Application with its owner.
    let change = json!({"spec": {"generators": elements(&[("b", "y")])}});
    control.server.patch(&control.path("applicationsets", "second"), &change);
    control.until_condition("second", "ErrorOccurred", "False");
    assert_eq!(control.server.read(&application), before);
}

#[test]
fn deleted_secret_deletes_no_applications() {
    let control = Control::new("no-secret");
    let service = CannedServer::start(None, |_| Canned::new(200, parameters(2)));
    let secret = control.core("secrets");
    control
        .server
        .create(&secret, &json!({"metadata": {"name": "tokens"}, "stringData": {"teams": "s3cret"}}));
    let map =
        json!({"metadata": {"name": "teams"}, "data": {"baseUrl": service.url(), "token": "$tokens:teams"}});
    control.server.create(&control.core("configmaps"), &map);
    control.create_set("teams", &json!({"generators": [{"plugin": {"configMapRef": {"name": "teams"}}}]}));
    let _running = control.start(&[]);
    control.until_condition("teams", "ResourcesUpToDate", "True");
    let before = control.applications();
    control.server.delete(&format!("{secret}/tokens"));
    control.until_condition("teams", "ErrorOccurred", "True ApplicationGenerationFromParamsError");
    assert_eq!(control.applications(), before);
    assert_eq!(before.len(), 2);
}

#[test]
fn missing_permission_stops_only_sets_that_need_it() {
    let control = Control::new("limited-sets");
    control.world.write("kubeconfig", &control.server.kubeconfig(LIMITED_TOKEN));
    let all = ["get", "list", "watch", "create", "patch", "update", "delete"];
    let argo_cd = [
        "applications",
        "applicationsets",
        "applicationsets/status",
        "applicationsets/finalizers",
        "appprojects",
    ];
    let permit = |verbs: &[&str], group: &str, resources: &[&str]| {
        let rule = json!({"verbs": verbs, "apiGroups": [group], "resources": resources});
        control.server.permit_in(&control.namespace, resources[0], &rule);
    };
    permit(&all, "argoproj.io", &argo_cd);
    permit(&["list", "watch"], "", &["configmaps"]);
    control.create_set("list", &json!({"generators": elements(&[("a", "x")])}));
    control.create_set("clusters", &json!({"generators": [{"clusters": {}}]}));
    let mut running = control.start(&[]);
    let log = running.stderr();
    control.until_applications(&["a x"]);
    control.until_condition("list", "ResourcesUpToDate", "True");
    control.until_condition(
        "clusters",
        "ErrorOccurred",
        "True PermissionDenied cluster test: cannot list Secret: permission denied",
    );
    let rule = "the controller needs the verbs list and watch on secrets in namespace limited-sets";
    control.until_condition("clusters", "ErrorOccurred", rule);
    log.line_with(rule);
    log.line_with("cannot create Event: permission denied");
    // The permission counts as soon as it is given.
    permit(&["list", "watch"], "", &["secrets"]);
    control.until_condition("clusters", "ErrorOccurred", "True UpdateApplicationError");
}

#[test]
fn only_changes_of_inputs_ask_a_service() {
    let control = Control::new("asked");
    let requests = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&requests);
    let service = CannedServer::start(None, move |_| {
        *counted.lock().expect("not poisoned") += 1;
        Canned::new(200, parameters(2))
    });
    let secret = json!({"metadata": {"name": "argocd-secret"}, "stringData": {"key": "x"}});
    control.server.create(&control.core("secrets"), &secret);
    let map = json!({"metadata": {"name": "teams"}, "data": {"baseUrl": service.url(), "token": "$key"}});
    control.server.create(&control.core("configmaps"), &map);
    control.create_set("teams", &json!({"generators": [{"plugin": {"configMapRef": {"name": "teams"}}}]}));
    let mut running = control.start(&["--loglevel=debug"]);
    let log = running.stderr();
    let address = log.rest_of_line_with("metrics are on ");
    let address = address.split([',', '/']).nth(2).expect("an address").to_owned();
    control.until_applications(&["team-0 t", "team-1 t"]);
    control.until_condition("teams", "ResourcesUpToDate", "True");
    // Changes of Applications are undone with the known answer.
    control
        .server
        .patch(&control.path("applications", "team-0"), &json!({"metadata": {"labels": {"team": "z"}}}));
    control.until_applications(&["team-0 t", "team-1 t"]);
    control.server.delete(&control.path("applications", "team-1"));
    control.until_applications(&["team-0 t", "team-1 t"]);
    assert_eq!(*requests.lock().expect("not poisoned"), 1);
    // An address that changes asks again, a status does not.
    control.server.patch(
        &control.path("applications", "team-0"),
        &json!({"status": {"health": {"status": "Healthy"}}}),
    );
    control.server.patch(
        &format!("{}/teams", control.core("configmaps")),
        &json!({"data": {"baseUrl": format!("{}/", service.url())}}),
    );
    until(|| (*requests.lock().expect("not poisoned") == 2).then_some(()));
    control.server.patch(
        &control.path("applicationsets", "teams"),
        &json!({"spec": {"goTemplateOptions": ["missingkey=error"]}}),
    );
    until(|| (*requests.lock().expect("not poisoned") == 3).then_some(()));
    let metrics = get(&address, "/metrics");
    for line in [
        "argocd_appset_info{namespace=\"asked\",name=\"teams\",resource_update_status=\"ApplicationSetUpToDate\"} 1",
        "argocd_appset_owned_applications{namespace=\"asked\",name=\"teams\"} 2",
        "tiphys_appset_generations_total 3",
        "tiphys_appset_leader 1",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    assert!(
        metrics.contains("argocd_appset_reconcile_count{namespace=\"asked\",name=\"teams\"}"),
        "{metrics}"
    );
}

#[test]
fn service_that_does_not_answer_delays_only_its_sets() {
    let control = Control::new("silent");
    let secret = json!({"metadata": {"name": "argocd-secret"}, "stringData": {"key": "x"}});
    control.server.create(&control.core("secrets"), &secret);
    let silent = CannedServer::start(None, |_| Canned::new(200, parameters(1)).at(Pace::Hang));
    let teams = CannedServer::start(None, |_| Canned::new(200, parameters(1)));
    for (name, service) in [("silent", &silent), ("teams", &teams)] {
        let data = json!({"baseUrl": service.url(), "token": "$key", "requestTimeout": "3600"});
        control
            .server
            .create(&control.core("configmaps"), &json!({"metadata": {"name": name}, "data": data}));
    }
    let plugin = |name: &str| json!({"generators": [{"plugin": {"configMapRef": {"name": name}}}]});
    control.create_set("silent-1", &plugin("silent"));
    control.create_set("silent-2", &plugin("silent"));
    let running = control.start(&["--concurrent-reconciliations=1", "--limit=plugin-jobs=1"]);
    silent.wait_for("");
    control.create_set("teams", &plugin("teams"));
    control.create_set("web", &json!({"generators": elements(&[("a", "x")])}));
    control.until_applications(&["a x", "team-0 t"]);
    assert_eq!(silent.requests().len(), 1);
    running.signal(&control.world, "TERM");
    assert_eq!(running.finish(&control.world).code, 0);
}

#[test]
fn another_controller_of_the_same_sets_is_noticed() {
    let control = Control::new("shared");
    control.create_set("web", &json!({"generators": elements(&[("a", "x")])}));
    let mut running = control.start(&[]);
    let log = running.stderr();
    control.until_condition("web", "ResourcesUpToDate", "True");
    // Times of managers have seconds, and those before the start do not count.
    log.line_with("created Application");
    let path = control.path("applicationsets", "web");
    let argo_cd = format!("{path}/status?fieldManager=argocd-applicationset-controller");
    until(|| {
        let patch = json!({"status": {"resourcesCount": 7}});
        control.server.patch(&argo_cd, &patch);
        control.server.patch(&argo_cd, &json!({"status": {"resourcesCount": 1}}));
        control.condition("web", "OtherController").starts_with("True OtherControllerActive").then_some(())
    });
    log.line_with("another controller reconciles the sets of this one");
    control.server.patch(&path, &json!({"spec": {"generators": elements(&[("b", "x")])}}));
    control.create_set("later", &json!({"generators": elements(&[("c", "x")])}));
    control.until_condition("later", "OtherController", "True OtherControllerActive");
    assert_eq!(control.applications(), ["a x"]);
}

#[test]
fn application_above_the_limit_of_etcd_is_reported_and_the_others_are_written() {
    let control = Control::new("too-large");
    let large = r#"{{ if eq .name "b" }}{{ repeat 2000000 "x" }}{{ end }}"#;
    let source = json!({"repoURL": "https://git.example.org/apps.git", "path": "x", "targetRevision": "main", "helm": {"values": large}});
    control.create_set("web", &json!({"generators": elements(&[("a", "x"), ("b", "x"), ("c", "x")])}));
    let change = json!({"spec": {"template": {"spec": {"source": source}}}});
    control.server.patch(&control.path("applicationsets", "web"), &change);
    let _running = control.start(&[]);
    control.until_condition(
        "web",
        "ErrorOccurred",
        "True UpdateApplicationError etcdserver: request is too large",
    );
    control.until_applications(&["a x", "c x"]);
}

#[test]
fn set_of_5000_applications_is_created_and_counted() {
    let control = Control::new("many");
    let names: Vec<String> = (0..5_000).map(|index| format!("a{index:04}")).collect();
    let list: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    control.create_set("web", &json!({"generators": elements(&list)}));
    let mut running = control.start(&[]);
    running.stderr().line_with("created Application \\\"a4999\\\"");
    control.until_condition("web", "ResourcesUpToDate", "True");
    assert_eq!(control.applications(), names.iter().map(|name| format!("{name} x")).collect::<Vec<_>>());
    let status = control.server.read(&control.path("applicationsets", "web"))["status"].take();
    assert_eq!(status["resourcesCount"], 5_000);
    assert_eq!(status["resources"].as_array().map(Vec::len), Some(5_000));
}

#[test]
fn decisions_in_the_cluster_select_clusters() {
    let control = Control::new("decisions");
    let label = json!({"argocd.argoproj.io/secret-type": "cluster"});
    let data = json!({"name": "west", "server": "https://west.example.org", "config": "{}"});
    let secret = json!({"metadata": {"name": "west", "labels": label}, "stringData": data});
    control.server.create(&control.core("secrets"), &secret);
    // Any kind may have decisions in its status.
    let data = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "appprojects", "statusListKey": "decisions", "matchKey": "cluster",
    });
    control.server.create(&control.core("configmaps"), &json!({"metadata": {"name": "kind"}, "data": data}));
    let decide = |clusters: &[&str]| {
        let decisions = clusters.iter().map(|name| json!({"cluster": name, "team": "x"}));
        let status = json!({"status": {"decisions": decisions.collect::<Vec<_>>()}});
        control.server.patch(&control.path("appprojects", "default"), &status);
    };
    decide(&["west", "unknown"]);
    let generator = json!({"configMapRef": "kind", "name": "default", "requeueAfterSeconds": 1});
    control.create_set("web", &json!({"generators": [{"clusterDecisionResource": generator}]}));
    let _running = control.start(&[]);
    control.until_applications(&["west x"]);
    decide(&[]);
    control.until_applications(&[]);
}

#[test]
fn credentials_of_the_user_are_not_sent() {
    let control = Control::new("own-credentials");
    let server =
        CannedServer::start(None, |_| Canned::new(401, "").with("WWW-Authenticate", "Basic realm=\"git\""));
    let helper = "[credential]\n\thelper = \"!f() { echo username=me; echo password=s3cret; }; f\"\n";
    control.world.write("home/.gitconfig", helper);
    let git = json!({"repoURL": format!("{}/apps.git", server.url()), "revision": "main", "directories": [{"path": "*"}]});
    control.create_set("web", &json!({"generators": [{"git": git}]}));
    let _running = control.start(&[]);
    control.until_condition("web", "ErrorOccurred", "True ApplicationGenerationFromParamsError");
    let requests = server.requests();
    assert!(!requests.is_empty(), "{}", control.condition("web", "ErrorOccurred"));
    assert!(requests.iter().all(|request| request.header("Authorization").is_none()), "{requests:?}");
}

#[test]
fn parameters_are_recorded_and_explained() {
    let control = Control::new("recorded");
    control.create_set("web", &json!({"generators": elements(&[("a", "x"), ("b", "y")])}));
    control.create_set("taken", &json!({"generators": elements(&[("c", "z")])}));
    let user = json!({"metadata": {"name": "taken-parameters"}, "data": {"mine": "yes"}});
    control.server.create(&control.core("configmaps"), &user);
    let mut running = control.start(&["--record-parameters"]);
    let log = running.stderr();
    log.line_with("ConfigMap recorded/taken-parameters is not a record of parameters");

    control.world.write("kubeconfig-of-user", &control.server.kubeconfig(ADMIN_TOKEN));
    let explain = |arguments: &[&str]| {
        let cluster = ["--context=test", "--config=kubeconfig=kubeconfig-of-user"];
        control.world.run(&[&["appset", "explain"], &cluster[..], arguments].concat())
    };
    until(|| (explain(&["recorded/web"]).code == 0).then_some(()));
    let output = explain(&["recorded/web", "-o", "table"]);
    assert_eq!(
        output.stdout,
        "NAME   GENERATOR                 PARAMETERS
a      spec.generators[0].list   {\"name\":\"a\",\"team\":\"x\"}
b      spec.generators[0].list   {\"name\":\"b\",\"team\":\"y\"}
"
    );
    let change = json!({"spec": {"generators": elements(&[("b", "w")])}});
    control.server.patch(&control.path("applicationsets", "web"), &change);
    until(|| (explain(&["recorded/web", "a"]).code == 2).then_some(()));
    let output = explain(&["recorded/web", "b"]);
    let expected = json!([{
        "set": "recorded/web", "name": "b", "generator": "spec.generators[0].list", "parameters": {"name": "b", "team": "w"},
    }]);
    assert_eq!(serde_json::from_str::<Value>(&output.stdout).expect("JSON"), expected);

    for (set, expected) in [
        ("recorded/taken", "ConfigMap recorded/taken-parameters is another one"),
        ("recorded/missing", "run the controller with --record-parameters"),
    ] {
        let output = explain(&[set]);
        assert_eq!(output.code, 2);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    }
    // Too many parameters replace those of before.
    let large = json!([{"list": {"elements": [{"name": "b", "team": "w", "more": "x".repeat(1_000_000)}]}}]);
    control.server.patch(&control.path("applicationsets", "web"), &json!({"spec": {"generators": large}}));
    until(|| explain(&["recorded/web"]).stderr.contains("they are larger than a ConfigMap").then_some(()));
    let map = control.server.read(&format!("{}/taken-parameters", control.core("configmaps")));
    assert_eq!(map["data"], user["data"]);
    // Kubernetes removes the record with the set.
    let record = control.server.read(&format!("{}/web-parameters", control.core("configmaps")));
    assert_eq!(record["metadata"]["ownerReferences"][0]["name"], "web");
}

#[test]
fn webhooks_ask_the_generators_that_they_concern() {
    let control = Control::new("webhooks");
    let answer = Arc::new(Mutex::new(Canned::new(200, parameters(1))));
    let served = Arc::clone(&answer);
    let service = CannedServer::start(None, move |_| served.lock().expect("not poisoned").clone());
    let secret = json!({"metadata": {"name": "argocd-secret"}, "stringData": {"key": "t0ken", "webhook.github.secret": "s3cret"}});
    control.server.create(&control.core("secrets"), &secret);
    let map = json!({"metadata": {"name": "teams"}, "data": {"baseUrl": service.url(), "token": "$key"}});
    control.server.create(&control.core("configmaps"), &map);
    control.create_set("teams", &json!({"generators": [{"plugin": {"configMapRef": {"name": "teams"}}}]}));
    let pull_requests =
        json!([{"pullRequest": {"github": {"owner": "team", "repo": "apps", "api": service.url()}}}]);
    control.create_set("pulls", &json!({"generators": pull_requests}));
    let mut running = control.start(&[]);
    let log = running.stderr();
    let address = log.rest_of_line_with("webhooks on http://");
    let address = address.split('/').next().expect("an address").to_owned();
    control.until_applications(&["team-0 t"]);

    *answer.lock().expect("not poisoned") = Canned::new(200, parameters(2));
    let plugin = |token: &str| call(&address, "POST", "/api/plugin/teams", &[("Authorization", token)], "");
    for (token, expected) in
        [("Bearer wrong", " 401 "), ("", " 401 "), ("Basic t0ken", " 401 "), ("bearer t0ken", " 200 ")]
    {
        let answer = plugin(token);
        assert!(answer.lines().next().expect("a status").contains(expected), "{answer}");
        assert!(!answer.contains("t0ken"), "{answer}");
    }
    control.until_applications(&["team-0 t", "team-1 t"]);

    let body = r#"{"action":"opened","repository":{"full_name":"team/apps"}}"#;
    // `openssl dgst -sha256 -hmac s3cret`
    let signature = "sha256=d0a3c4d0ce6ef350050c7fb021ea9aef0235cd441b543480c7037f09b27c029a";
    let forge = |signature: &str| {
        let headers = [("X-GitHub-Event", "pull_request"), ("X-Hub-Signature-256", signature)];
        call(&address, "POST", "/api/webhook", &headers, body)
    };
    assert!(forge(signature).contains("generated again: 1"), "{}", forge(signature));
    assert!(forge(&signature.replace('=', "=0")).contains(" 401 "));
    assert!(
        call(&address, "POST", "/api/webhook", &[("X-Gitlab-Event", "Push Hook")], body).contains(" 403 ")
    );
    assert!(call(&address, "POST", "/api/webhook", &[], body).contains(" 400 "));
}

/// Returns an HTTP response to a GET request.
fn get(address: &str, path: &str) -> String {
    call(address, "GET", path, &[], "")
}

/// Returns an HTTP response.
fn call(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut connection = TcpStream::connect(address).expect("the server listens");
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = headers.concat();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).expect("it reads the request");
    let mut response = String::new();
    connection.read_to_string(&mut response).expect("it answers");
    response
}

fn parameters(count: usize) -> String {
    let sets = (0..count).map(|index| json!({"name": format!("team-{index}"), "team": "t"}));
    json!({"output": {"parameters": sets.collect::<Vec<_>>()}}).to_string()
}
