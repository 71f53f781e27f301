//! The controller takes over sets and Applications of Argo CD's own controller, and leaves them as that expects them.

use serde_json::{Value, json};

use crate::appset_controller::{Control, elements};
use crate::world::World;

const TIME: &str = "2026-01-02T03:04:05Z";

/// Creates a set of one Application, as Argo CD's controller leaves both. Returns the Application.
fn left_by_argo_cd(control: &Control) -> Value {
    control.create_set("web", &json!({"generators": elements(&[("a", "x")])}));
    let set = control.path("applicationsets", "web");
    let uid = control.server.read(&set)["metadata"]["uid"].clone();
    let message = "All applications have been generated successfully";
    let condition = |kind: &str, status: &str, reason: &str, message: &str| json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": TIME});
    let status = json!({"status": {
        "conditions": [
            condition("ErrorOccurred", "False", "ApplicationSetUpToDate", message),
            condition(
                "ParametersGenerated",
                "True",
                "ParametersGenerated",
                "All parameters have been generated successfully",
            ),
            condition("ResourcesUpToDate", "True", "ApplicationSetUpToDate", message),
        ],
        "health": {"status": "Healthy", "message": message},
        "resources": [{
            "group": "argoproj.io", "version": "v1alpha1", "kind": "Application", "name": "a",
            "namespace": control.namespace, "status": "Synced", "health": {"status": "Healthy"},
        }],
        "resourcesCount": 1,
    }});
    control.server.patch(&format!("{set}/status"), &status);
    let application = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": "a",
            "labels": {"team": "x"},
            // Another controller of Argo CD.
            "annotations": {"notified.notifications.argoproj.io": "{}"},
            "ownerReferences": [{
                "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "name": "web", "uid": uid,
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "project": "default",
            "source": {"repoURL": "https://git.example.org/apps.git", "path": "a", "targetRevision": "main"},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "x"},
        },
        "status": {
            "health": {"status": "Healthy", "lastTransitionTime": TIME},
            "sync": {"status": "Synced", "revision": "4f1c", "comparedTo": {"source": {"path": "a"}}},
            "reconciledAt": TIME,
            "sourceType": "Directory",
        },
    });
    control.server.create(&control.path("applications", ""), &application)
}

#[test]
fn controllers_replace_each_other_without_changes() {
    let control = Control::new("switched");
    let application = left_by_argo_cd(&control);
    let (path, set) = (control.path("applications", "a"), control.path("applicationsets", "web"));
    let before = control.server.read(&set);

    let mut running = control.start(&["--enable-leader-election", "--loglevel=debug"]);
    let log = running.stderr();
    log.line_with("reconciled");
    assert_eq!(control.server.read(&path), application);
    assert_eq!(control.server.read(&set), before);

    let change = json!({"spec": {"generators": elements(&[("a", "y"), ("b", "y")])}});
    control.server.patch(&set, &change);
    control.until_applications(&["a y", "b y"]);
    control.until_condition("web", "ResourcesUpToDate", "True ApplicationSetUpToDate");
    running.signal(&control.world, "TERM");
    log.rest();
    assert_eq!(running.finish(&control.world).code, 0);

    // Argo CD's controller finds what it would have written itself.
    let mut expected = application.clone();
    expected["metadata"]["labels"]["team"] = json!("y");
    expected["spec"]["destination"]["namespace"] = json!("y");
    let found = control.server.read(&path);
    assert_eq!(without_versions(found.clone()), without_versions(expected));
    let owner = &found["metadata"]["ownerReferences"];
    let created = control.server.read(&control.path("applications", "b"));
    assert_eq!(
        without_versions(created)["metadata"],
        json!({"name": "b", "namespace": "switched", "labels": {"team": "y"}, "ownerReferences": owner})
    );
    let after = control.server.read(&set);
    for field in ["annotations", "finalizers"] {
        assert_eq!(after["metadata"].get(field), None, "{field}");
    }
    let lease =
        "/apis/coordination.k8s.io/v1/namespaces/switched/leases/58ac56fa.applicationsets.argoproj.io";
    assert_eq!(control.server.read(lease)["spec"]["holderIdentity"], "");
}

#[test]
fn dry_run_logs_what_it_would_do_without_a_lease() {
    let control = Control::new("dry-run");
    control.create_set("web", &json!({"generators": elements(&[("a", "x")])}));
    let mut running = control.start(&["--enable-leader-election", "--dry-run"]);
    let log = running.stderr();
    log.line_with("created Application");
    running.signal(&control.world, "TERM");
    log.rest();
    assert_eq!(running.finish(&control.world).code, 0);
    assert_eq!(control.applications(), [""; 0]);
    assert_eq!(control.server.read(&control.path("applicationsets", "web")).get("status"), None);
    assert_eq!(control.events("web"), [""; 0]);
    let leases = "/apis/coordination.k8s.io/v1/namespaces/dry-run/leases";
    assert_eq!(control.server.read(leases)["items"], json!([]));
}

#[test]
fn sets_of_other_namespaces_need_restricted_forges() {
    let world = World::empty();
    let arguments = ["appset-controller", "--logformat=text", "--applicationset-namespaces=team-*"];
    let output = world.run(&arguments);
    assert_eq!(output.code, 20);
    let expected =
        "--applicationset-namespaces needs --allowed-scm-providers or --enable-scm-providers=false";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
}

/// Removes what the API server writes.
fn without_versions(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().expect("an object");
    for field in ["resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"] {
        metadata.remove(field);
    }
    object
}
