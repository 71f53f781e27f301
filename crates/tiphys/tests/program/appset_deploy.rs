//! The manifests of `deploy/appset-controller`: the identity and the permissions that they give are those that the controller needs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tiphys_testkit::canned_server::{Canned, CannedServer};
use tiphys_testkit::wait::until;
use tiphys_testkit::{tools, workspace_root};

use crate::appset_controller::{Control, elements};
use crate::world::World;

/// Name of all objects of the manifests.
const NAME: &str = "tiphys-appset-controller";

/// Name of the lease of Argo CD's controller.
const LEASE: &str = "58ac56fa.applicationsets.argoproj.io";

/// Options for a controller outside of a pod.
const OUTSIDE: [&str; 4] =
    ["--kubeconfig=kubeconfig", "--metrics-addr=0", "--probe-addr=0", "--logformat=text"];

/// The manifests for a namespace.
struct Manifests(Vec<Value>);

impl Manifests {
    /// Builds a folder of `deploy/appset-controller` with the kustomize of `cargo xtask tools`, after edits of its kustomization.
    fn build(folder: &str, edit: impl FnOnce(String) -> String) -> Self {
        let world = World::empty().with_programs(&[tools::program("kustomize")]);
        let world = world.with_files(&workspace_root().join("deploy/appset-controller"));
        let file = format!("{folder}/kustomization.yaml");
        world.write(&file, &edit(world.read(&file)));
        world.write(
            &format!("{folder}/argo-cd.yaml"),
            include_str!("../../testdata/appset-deploy/argo-cd.yaml"),
        );
        let mut build = world.command("kustomize");
        build.args(["build", folder]);
        let built = world.finish(build);
        assert_eq!((built.code, built.stderr.as_str()), (0, ""));
        let documents = tiphys_yaml::read_documents(built.stdout.as_bytes()).expect("kustomize prints YAML");
        Self(documents.iter().map(tiphys_yaml::Node::to_value).collect())
    }

    fn of_namespace(namespace: &str) -> Self {
        Self::build(".", |kustomization| format!("{kustomization}namespace: {namespace}\n"))
    }

    fn kind(&self, kind: &str) -> &Value {
        self.0.iter().find(|object| object["kind"] == kind).expect("the manifests have this kind")
    }

    /// Returns the container of the Deployment.
    fn container(&self) -> &Value {
        &self.kind("Deployment")["spec"]["template"]["spec"]["containers"][0]
    }

    /// Returns the permissions of the Role as `VERB GROUP/RESOURCE`.
    fn permissions(&self) -> BTreeSet<String> {
        let mut permissions = BTreeSet::new();
        for rule in self.kind("Role")["rules"].as_array().expect("a list") {
            let (verbs, groups) = (strings(&rule["verbs"]), strings(&rule["apiGroups"]));
            for resource in strings(&rule["resources"]) {
                permissions.extend(verbs.iter().map(|verb| format!("{verb} {}/{resource}", groups[0])));
            }
        }
        permissions
    }
}

/// Returns the path of an object's collection. A server rejects unknown fields, and stores nothing in a dry run.
fn path(object: &Value, query: &str) -> String {
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]).to_lowercase());
    let api = if version.contains('/') { "apis" } else { "api" };
    let namespace = text(&object["metadata"]["namespace"]);
    format!("/{api}/{version}/namespaces/{namespace}/{kind}s?fieldValidation=Strict{query}")
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|item| item.as_str().expect("a string")).collect()
}

#[test]
fn role_has_the_permissions_that_the_controller_uses() {
    let namespace = "deployed";
    let control = Control::new(namespace);
    let (server, manifests) = (control.server, Manifests::of_namespace(namespace));
    for object in &manifests.0 {
        let query = if object["kind"] == "Deployment" { "&dryRun=All" } else { "" };
        server.create(&path(object, query), object);
    }
    let user = format!("system:serviceaccount:{namespace}:{NAME}");
    let finalizers = json!({
        "namespace": namespace, "verb": "update",
        "group": "argoproj.io", "resource": "applicationsets", "subresource": "finalizers",
    });
    until(|| server.permits(&user, &finalizers).then_some(()));
    control.world.write("kubeconfig", &server.kubeconfig(&server.token_of(namespace, NAME)));

    let sets = Arc::new(Mutex::new(json!([{"name": "p", "team": "x"}])));
    let answer = Arc::clone(&sets);
    let service = CannedServer::start(None, move |request| match request.header("Authorization") {
        Some("Bearer s3cret") => {
            let sets = &*answer.lock().expect("not poisoned");
            Canned::new(200, json!({"output": {"parameters": sets}}).to_string())
        }
        _ => Canned::new(403, ""),
    });
    let secret = json!({"metadata": {"name": "teams"}, "stringData": {"token": "s3cret"}});
    server.create(&control.core("secrets"), &secret);
    let map =
        json!({"metadata": {"name": "teams"}, "data": {"baseUrl": service.url(), "token": "$teams:token"}});
    server.create(&control.core("configmaps"), &map);
    let plugin = json!([{"plugin": {"configMapRef": {"name": "teams"}, "requeueAfterSeconds": 1}}]);

    let container = manifests.container();
    assert_eq!(
        container["env"][0],
        json!({"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}})
    );
    let command = strings(&container["command"]);
    let running =
        control.world.start_with("NAMESPACE", Path::new(namespace), &[&command[1..], &OUTSIDE].concat());

    // Created, changed and deleted, with events and a status.
    control.create_set("list", &json!({"generators": elements(&[("a", "x"), ("b", "x")])}));
    control.create_set("plugin", &json!({"generators": plugin}));
    control.until_applications(&["a x", "b x", "p x"]);
    let set = control.path("applicationsets", "list");
    let change = json!({
        "metadata": {"annotations": {"argocd.argoproj.io/application-set-refresh": "true"}},
        "spec": {"generators": elements(&[("a", "y")])},
    });
    server.patch(&set, &change);
    *sets.lock().expect("not poisoned") = json!([{"name": "q", "team": "x"}]);
    control.until_applications(&["a y", "q x"]);
    for set in ["list", "plugin"] {
        control.until_condition(set, "ResourcesUpToDate", "True ApplicationSetUpToDate");
    }
    until(|| (control.events("list").len() == 4).then_some(()));
    until(|| server.read(&set)["metadata"].get("annotations").is_none().then_some(()));
    let lease = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{LEASE}");
    assert_ne!(server.read(&lease)["spec"]["holderIdentity"], "");

    // Without the permission on the finalizers of sets, Applications cannot be created.
    let role = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles/{NAME}");
    let mut rules = manifests.kind("Role")["rules"].clone();
    let all = rules.clone();
    rules
        .as_array_mut()
        .expect("a list")
        .retain(|rule| rule["resources"] != json!(["applicationsets/finalizers"]));
    server.patch(&role, &json!({"rules": rules}));
    until(|| (!server.permits(&user, &finalizers)).then_some(()));
    server.patch(&set, &json!({"spec": {"generators": elements(&[("a", "y"), ("c", "y")])}}));
    control.until_condition("list", "ErrorOccurred", "blockOwnerDeletion");
    assert_eq!(control.applications(), ["a y", "q x"]);
    server.patch(&role, &json!({"rules": all}));
    control.until_applications(&["a y", "c y", "q x"]);

    // A deleted set that must keep its Applications gives them up.
    let policy = json!({"applicationsSync": "create-only", "preserveResourcesOnDeletion": true});
    control.create_set("kept", &json!({"generators": elements(&[("k", "x")]), "syncPolicy": policy}));
    let set = control.path("applicationsets", "kept");
    let finalizers = json!({"metadata": {"finalizers": ["resources-finalizer.argocd.argoproj.io"]}});
    server.patch(&set, &finalizers);
    control.until_condition("kept", "ResourcesUpToDate", "True");
    server.delete(&set);
    until(|| (server.status_of(&set) == 404).then_some(()));
    assert_eq!(server.read(&control.path("applications", "k"))["metadata"].get("ownerReferences"), None);

    running.signal(&control.world, "TERM");
    let output = running.finish(&control.world);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let mut denied = output.stderr.lines().filter(|line| line.contains("permission denied"));
    assert!(denied.all(|line| line.contains("application=c ")), "{}", output.stderr);

    // Watches are recorded when they end.
    let used = || server.used_permissions(namespace, NAME);
    until(|| (used().iter().filter(|permission| permission.starts_with("watch")).count() == 5).then_some(()));
    let mut permissions = manifests.permissions();
    assert!(permissions.remove("update argoproj.io/applicationsets/finalizers"));
    assert_eq!(used(), permissions);
}

#[test]
fn patch_runs_the_controller_in_argo_cds_deployment() {
    let control = Control::new("patched");
    let manifests = Manifests::build("in-argo-cd", |kustomization| {
        let is_remote = |line: &&str| line.trim_start().starts_with("- https://");
        let remote = kustomization.lines().find(is_remote).expect("Argo CD's manifests");
        kustomization.replace(remote, "  - argo-cd.yaml").replace("namespace: argocd", "namespace: patched")
    });
    let deployment = manifests.kind("Deployment");
    control.server.create(&path(deployment, "&dryRun=All"), deployment);
    let container = manifests.container();
    assert_eq!(container["image"], "registry.example.com/tiphys-ci:1");
    assert_eq!(container.get("command"), None);
    // The image has no user of its own, and its root file system is read-only.
    assert_eq!(container["securityContext"]["runAsUser"], 999);
    let variable = |name: &str| {
        let variables = container["env"].as_array().expect("a list");
        variables.iter().find(|variable| variable["name"] == name).unwrap_or(&Value::Null)
    };
    assert_eq!(variable("XDG_CACHE_HOME")["value"], "/tmp");
    assert!(
        container["volumeMounts"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|mount| mount["mountPath"] == "/tmp")
    );
    // Argo CD's own settings stay.
    assert_ne!(variable("ARGOCD_APPLICATIONSET_CONTROLLER_POLICY"), &Value::Null);
    assert_eq!(variable("NAMESPACE")["valueFrom"]["fieldRef"]["fieldPath"], "metadata.namespace");

    control.create_set("web", &json!({"generators": elements(&[("a", "x")])}));
    let args = strings(&container["args"]);
    assert_eq!(args[0], "tiphys");
    let running =
        control.world.start_with("NAMESPACE", Path::new("patched"), &[&args[1..], &OUTSIDE].concat());
    control.until_applications(&["a x"]);
    drop(running);
}
