//! A controller that is killed after a write of each kind.

use serde_json::{Value, json};
use tiphys_testkit::kube_server::{FaultProxy, Forwarded};

use super::{Controlled, compare, list, writes};
use crate::appset_controller::{Control, elements};

/// The writes after which the controller is killed, by names of namespaces.
const WRITES: [(&str, Selects); 6] = [
    ("killed-create", |one| one.method == "POST" && one.path.ends_with("/applications")),
    ("killed-patch", |one| one.method == "PATCH" && one.path.contains("/applications/")),
    ("killed-delete", |one| one.method == "DELETE"),
    ("killed-event", |one| one.method == "POST" && one.path.ends_with("/events")),
    ("killed-refresh", |one| one.method == "PATCH" && one.path.ends_with("/applicationsets/web")),
    ("killed-status", |one| one.method == "PATCH" && one.path.ends_with("/status")),
];

/// Whether a request is the one.
type Selects = fn(&Forwarded) -> bool;

#[test]
fn killed_controller_is_replaced_without_a_trace() {
    let expected = run("killed-never", None);
    for (namespace, selects) in WRITES {
        let found = run(namespace, Some(selects));
        if let Err(problem) = compare(&found, &expected) {
            panic!("{namespace}: {problem}");
        }
    }
}

/// Changes a set, and kills the controller after one of the writes. Returns the state at the end.
fn run(namespace: &'static str, selects: Option<Selects>) -> Value {
    let control = Control::new(namespace);
    let proxy = FaultProxy::start(control.server, None);
    let set = |names: &[(&str, &str)]| json!({"spec": {"generators": elements(names)}});
    control.create_set("web", &set(&[("a", "x"), ("b", "x"), ("c", "x"), ("d", "x")])["spec"]);
    let mut controlled = Controlled::start(&control, &proxy, "log", &[]);
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));
    if let Some(selects) = selects {
        proxy.hold(selects);
    }
    // One change needs writes of all kinds, and several of most.
    let mut change = set(&[("a", "y"), ("b", "y"), ("e", "x"), ("f", "x")]);
    change["metadata"] = json!({"annotations": {"argocd.argoproj.io/application-set-refresh": "true"}});
    control.server.patch(&control.path("applicationsets", "web"), &change);
    if selects.is_some() {
        proxy.wait_until_held();
        controlled.signal("KILL");
        proxy.release();
        controlled = Controlled::start(&control, &proxy, "log", &[]);
    }
    control.settles(|| {
        let found = control.applications();
        let is_done = found == ["a y", "b y", "e x", "f x"];
        if is_done { Ok(()) } else { Err(format!("{found:?}")) }
    });
    control.settles(|| {
        let status = &control.state()["sets"][0];
        let names: Vec<&Value> =
            list(&status["status"]["resources"]).iter().map(|resource| &resource["name"]).collect();
        let is_done = names == ["a", "b", "e", "f"] && status["annotations"].is_null();
        if is_done { Ok(()) } else { Err(status.to_string()) }
    });
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));
    drop(controlled);
    let deleted: Vec<_> = writes(&proxy).into_iter().filter(|write| write.method == "DELETE").collect();
    assert!(
        deleted.iter().all(|write| ["c", "d"].iter().any(|name| write.path.ends_with(&format!("/{name}")))),
        "{namespace}: {deleted:?}"
    );
    control.state()
}
