//! Writes that are carried out although their responses are lost.

use serde_json::{Value, json};
use tiphys_testkit::canned_server::{Canned, Pace};
use tiphys_testkit::kube_server::{FaultProxy, Forwarded};
use tiphys_testkit::wait::until;

use std::time::Duration;

use super::service::{Service, parameters};
use super::{Controlled, writes};
use crate::appset_controller::{Control, elements};

fn is_status_write(request: &Forwarded) -> bool {
    request.method == "PATCH" && request.path.ends_with("/status")
}

/// Returns the number of status writes.
fn status_writes(proxy: &FaultProxy) -> usize {
    writes(proxy).iter().filter(|write| is_status_write(write)).count()
}

fn has_applications(control: &Control, expected: &[&str]) -> Result<(), String> {
    let found = control.applications();
    if found == expected { Ok(()) } else { Err(format!("{found:?}")) }
}

#[test]
fn application_of_a_lost_creation_is_deleted_if_unwanted() {
    let control = Control::new("lost-creation");
    let proxy = FaultProxy::start(control.server, None);
    let one = json!({"generators": elements(&[("a", "x")])});
    control.create_set("web", &one);
    let _controlled = Controlled::start(&control, &proxy, "log", &[]);
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));

    proxy.hold_events(Some("applications"));
    proxy.hold(|request| request.method == "POST" && request.path.ends_with("/applications"));
    let two = json!({"generators": elements(&[("a", "x"), ("b", "x")])});
    control.server.patch(&control.path("applicationsets", "web"), &json!({"spec": two}));
    proxy.wait_until_held();
    control.server.patch(&control.path("applicationsets", "web"), &json!({"spec": one}));
    let before = status_writes(&proxy);
    proxy.lose();
    // The failure, and the success of the reconcile that does not know the Application.
    until(|| (status_writes(&proxy) >= before + 2).then_some(()));
    proxy.hold_events(None);
    control.settles(|| has_applications(&control, &["a x"]));
}

#[test]
fn application_of_a_lost_creation_survives_a_set_that_keeps_its_applications() {
    let control = Control::new("lost-kept");
    let proxy = FaultProxy::start(control.server, None);
    let spec = |list: &[(&str, &str)]| json!({"generators": elements(list), "syncPolicy": {"applicationsSync": "create-only"}});
    control.create_set("web", &spec(&[("a", "x")]));
    let set = control.path("applicationsets", "web");
    let finalizer = json!({"metadata": {"finalizers": ["resources-finalizer.argocd.argoproj.io"]}});
    control.server.patch(&set, &finalizer);
    let _controlled = Controlled::start(&control, &proxy, "log", &[]);
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));

    proxy.hold_events(Some("applications"));
    proxy.hold(|request| request.method == "POST" && request.path.ends_with("/applications"));
    control.server.patch(&set, &json!({"spec": spec(&[("a", "x"), ("b", "x")])}));
    proxy.wait_until_held();
    proxy.lose();
    control.server.delete(&set);
    until(|| (control.server.status_of(&set) == 404).then_some(()));
    // Kubernetes would delete those that still have their owner.
    for name in ["a", "b"] {
        let application = control.server.read(&control.path("applications", name));
        assert_eq!(application["metadata"].get("ownerReferences"), None, "{name}");
    }
}

#[test]
fn application_that_a_set_generates_again_meanwhile_is_not_deleted() {
    let control = Control::new("again");
    let proxy = FaultProxy::start(control.server, None);
    control.create_set("web", &json!({"generators": elements(&[("a", "x"), ("b", "x")])}));
    let _controlled = Controlled::start(&control, &proxy, "log", &[]);
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));
    let uid = || control.server.read(&control.path("applications", "b"))["metadata"]["uid"].clone();
    let before = uid();

    let set = control.path("applicationsets", "web");
    let generate =
        |list: &[(&str, &str)]| control.server.patch(&set, &json!({"spec": {"generators": elements(list)}}));
    // The creation comes before the deletion.
    proxy.hold(|request| request.method == "POST" && request.path.ends_with("/applications"));
    generate(&[("a", "x"), ("c", "x")]);
    proxy.wait_until_held();
    generate(&[("a", "x"), ("b", "x"), ("c", "x")]);
    proxy.release();
    control.settles(|| has_applications(&control, &["a x", "b x", "c x"]));
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));
    assert_eq!(uid(), before);
}

#[test]
fn application_is_deleted_although_its_status_changes() {
    let change = json!({"status": {"health": {"status": "Healthy"}}});
    let (control, status_writes) = change_before_deletion("deleted-status", &change);
    // None reports a failure.
    assert_eq!(status_writes, 1);
    control.settles(|| has_applications(&control, &["a x"]));
}

#[test]
fn application_that_loses_its_owner_is_not_deleted() {
    let (control, _) =
        change_before_deletion("deleted-owner", &json!({"metadata": {"ownerReferences": null}}));
    control.settles(|| control.has_resources("web", 1));
    assert_eq!(control.applications(), ["a x", "b x"]);
}

/// Changes an Application between the last list of Applications and the deletion. Returns the number of status writes after that.
fn change_before_deletion(namespace: &str, change: &Value) -> (Control, usize) {
    let control = Control::new(namespace);
    let proxy = FaultProxy::start(control.server, None);
    control.create_set("web", &json!({"generators": elements(&[("a", "x"), ("b", "x")])}));
    let before = {
        let _controlled = Controlled::start(&control, &proxy, "log", &[]);
        control.settles(|| control.has_resources("web", 2));
        control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));
        let before = status_writes(&proxy);
        // The last request before the deletion.
        proxy.hold(|request| request.method == "GET" && request.path.ends_with("/applicationsets/web"));
        let one = json!({"spec": {"generators": elements(&[("a", "x")])}});
        control.server.patch(&control.path("applicationsets", "web"), &one);
        proxy.wait_until_held();
        control.server.patch(&control.path("applications", "b"), change);
        proxy.release();
        control.settles(|| control.has_resources("web", 1));
        control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));
        before
    };
    let status_writes = status_writes(&proxy) - before;
    (control, status_writes)
}

#[test]
fn status_of_a_lost_write_is_corrected() {
    let control = Control::new("lost-status");
    let service = Service::start(&control);
    let proxy = FaultProxy::start(control.server, None);
    service.answer("teams", parameters(["a".to_owned()]));
    let plugin = json!({"plugin": {"configMapRef": {"name": "service"}, "requeueAfterSeconds": 0}});
    control.create_set("teams", &json!({"generators": [plugin]}));
    control.create_set("web", &json!({"generators": elements(&[("b", "x")])}));
    let _controlled = Controlled::start(&control, &proxy, "log", &["--concurrent-reconciliations=1"]);
    control.settles(|| has_applications(&control, &["a t", "b x"]));
    control.settles(|| control.has_condition("teams", "ResourcesUpToDate", "True"));

    service.answer("teams", Canned::new(500, "").at(Pace::Late(Duration::from_millis(500))));
    let before = service.requests();
    control.refresh(&["teams"], 1);
    until(|| (service.requests() > before).then_some(()));
    // The events of the set come after the next reconcile.
    proxy.hold_events(Some("applicationsets"));
    proxy.hold(is_status_write);
    proxy.wait_until_held();
    service.answer("teams", parameters(["a".to_owned()]));
    proxy.lose();
    until(|| (service.requests() > before + 1).then_some(()));
    // The turn of this change comes after the writes of that reconcile.
    control.server.patch(&control.path("applications", "b"), &json!({"metadata": {"labels": {"team": "z"}}}));
    control.settles(|| has_applications(&control, &["a t", "b x"]));
    control.settles(|| control.has_condition("teams", "ErrorOccurred", "True"));
    proxy.hold_events(None);
    control.settles(|| control.has_condition("teams", "ErrorOccurred", "False"));
}

#[test]
fn failed_removal_of_the_refresh_annotation_is_repeated() {
    let control = Control::new("lost-refresh");
    let proxy = FaultProxy::start(control.server, None);
    control.create_set("web", &json!({"generators": elements(&[("a", "x")])}));
    let _controlled = Controlled::start(&control, &proxy, "log", &[]);
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));

    proxy.hold(|request| request.method == "PATCH" && request.path.ends_with("/applicationsets/web"));
    control.refresh(&["web"], 1);
    proxy.wait_until_held();
    proxy.lose();
    control.settles(|| control.has_condition("web", "ErrorOccurred", "True RefreshApplicationError"));
    control.settles(|| control.has_condition("web", "ErrorOccurred", "False"));
}

#[test]
fn change_right_before_the_status_is_written_counts() {
    let control = Control::new("overtaken");
    let proxy = FaultProxy::start(control.server, None);
    control.create_set("web", &json!({"generators": elements(&[("a", "x")])}));
    let _controlled = Controlled::start(&control, &proxy, "log", &[]);
    control.settles(|| control.has_condition("web", "ResourcesUpToDate", "True"));

    let set = control.path("applicationsets", "web");
    proxy.hold(|request| request.method == "POST" && request.path.ends_with("/applications"));
    let two = json!({"generators": elements(&[("a", "x"), ("b", "x")])});
    control.server.patch(&set, &json!({"spec": two}));
    proxy.wait_until_held();
    // The event of this change comes after the response of the status.
    proxy.hold_events(Some("applicationsets"));
    let three = json!({"generators": elements(&[("a", "x"), ("c", "x")])});
    control.server.patch(&set, &json!({"spec": three}));
    proxy.release();
    control.settles(|| control.has_resources("web", 2));
    proxy.hold_events(None);
    control.settles(|| has_applications(&control, &["a x", "c x"]));
}
