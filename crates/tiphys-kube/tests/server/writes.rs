//! Writes, and their failures.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use tiphys_engine::{ServedKind, ServedKinds};
use tiphys_kube::cluster_reader::ClusterReader as _;
use tiphys_kube::{
    KubeCluster, KubeIdentity, KubeOptions, ObjectPart, Preconditions, WriteError, WriteErrorKind,
    WriteOptions,
};
use tiphys_model::access::Secret;
use tiphys_model::limits::Limit;
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer, LIMITED_TOKEN};
use tiphys_testkit::wait;

use crate::scripted::{Reply, Scripted, ok};
use crate::support::{admin, chain, config_map, connection, kind, namespace, options, with_token};

fn of_uid(uid: &str) -> Preconditions<'_> {
    Preconditions { uid: Some(uid), resource_version: None }
}

fn built_in(group: &str, kind: &str) -> ServedKind {
    ServedKinds::built_in().find(group, kind, None).expect("a kind of Kubernetes").clone()
}

fn map_kind() -> ServedKind {
    built_in("", "ConfigMap")
}

fn map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// Returns the kind and the status of an error.
fn failure<T: std::fmt::Debug>(result: Result<T, WriteError>) -> (WriteErrorKind, u16) {
    let error = result.expect_err("a failure");
    (error.kind, error.status)
}

#[tokio::test]
async fn object_is_created_replaced_and_deleted() {
    namespace("written");
    let (cluster, kind) = (admin(), map_kind());
    let created = cluster.create(&kind, "written", &map("a", &json!({"k": "1"}))).await.expect("a creation");
    assert_eq!(created["metadata"]["managedFields"][0]["manager"], "tiphys");
    let exists = cluster.create(&kind, "written", &map("a", &json!({}))).await;
    assert_eq!(failure(exists), (WriteErrorKind::AlreadyExists, 409));

    let mut newer = created.clone();
    newer["data"] = json!({"k": "2"});
    let replaced = cluster.replace(&kind, "written", "a", ObjectPart::Main, &newer).await.expect("an update");
    assert!(!replaced.is_created && replaced.object["data"] == json!({"k": "2"}), "{replaced:?}");
    let stale = cluster.replace(&kind, "written", "a", ObjectPart::Main, &newer).await;
    assert_eq!(failure(stale), (WriteErrorKind::Conflict, 409));

    let other_uid =
        cluster.delete(&kind, "written", "a", of_uid("11111111-1111-4111-8111-111111111111")).await;
    assert_eq!(failure(other_uid), (WriteErrorKind::Conflict, 409));
    let older =
        Preconditions { resource_version: created["metadata"]["resourceVersion"].as_str(), uid: None };
    let changed = cluster.delete(&kind, "written", "a", older).await;
    assert_eq!(failure(changed), (WriteErrorKind::Conflict, 409));
    let uid = created["metadata"]["uid"].as_str().expect("a string");
    assert!(cluster.delete(&kind, "written", "a", of_uid(uid)).await.expect("a deletion"));
    assert!(!cluster.delete(&kind, "written", "a", of_uid(uid)).await.expect("no object"));
    assert_eq!(cluster.get(&kind, "written", "a").await.expect("no error"), None);
}

#[tokio::test]
async fn merge_patch_retains_foreign_labels() {
    namespace("patched");
    let (cluster, kind) = (admin(), map_kind());
    let mut object = map("a", &json!({"k": "1", "old": "x"}));
    object["metadata"]["labels"] = json!({"foreign": "yes"});
    let created = cluster.create(&kind, "patched", &object).await.expect("a creation");
    let patch = json!({"metadata": {"labels": {"own": "yes"}}, "data": {"old": null}});
    let patched = cluster.merge_patch(&kind, "patched", "a", ObjectPart::Main, &patch).await;
    let patched = patched.expect("a patch");
    assert_eq!(patched["metadata"]["labels"], json!({"foreign": "yes", "own": "yes"}));
    assert_eq!(patched["data"], json!({"k": "1"}));

    let version = &created["metadata"]["resourceVersion"];
    let locked = json!({"metadata": {"resourceVersion": version}, "data": {"k": "2"}});
    let conflict = cluster.merge_patch(&kind, "patched", "a", ObjectPart::Main, &locked).await;
    assert_eq!(failure(conflict), (WriteErrorKind::Conflict, 409));
    let missing = cluster.merge_patch(&kind, "patched", "missing", ObjectPart::Main, &patch).await;
    assert_eq!(failure(missing), (WriteErrorKind::NotFound, 404));
}

#[tokio::test]
async fn status_is_written_apart_from_the_object() {
    let server = KubeServer::shared();
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {}}});
    let definition = json!({
        "metadata": {"name": "gadgets.status.example.com"},
        "spec": {
            "group": "status.example.com",
            "scope": "Cluster",
            "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget"},
            "versions": [version]
        }
    });
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
    let path = "/apis/status.example.com/v1/gadgets";
    wait::eventually("the kind is served", || server.status_of(path) == 200).await;
    let cluster = admin();
    let kind = kind(&cluster, "status.example.com", "Gadget").await;
    let object = json!({"apiVersion": "status.example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}, "size": 1});
    cluster.create(&kind, "", &object).await.expect("a creation");
    let patch = json!({"size": 2, "status": {"phase": "Tested"}});
    let patched = cluster.merge_patch(&kind, "", "a", ObjectPart::Status, &patch).await.expect("a patch");
    assert_eq!((&patched["size"], &patched["status"]["phase"]), (&json!(1), &json!("Tested")));
    let other = json!({"size": 2, "status": {"phase": "Ignored"}});
    let patched = cluster.merge_patch(&kind, "", "a", ObjectPart::Main, &other).await.expect("a patch");
    assert_eq!((&patched["size"], &patched["status"]["phase"]), (&json!(2), &json!("Tested")));
    let mut newer = patched.clone();
    newer["status"] = json!({"phase": "Replaced"});
    let written = cluster.replace(&kind, "", "a", ObjectPart::Status, &newer).await.expect("an update");
    assert_eq!(written.object["status"]["phase"], "Replaced");
    newer["metadata"]["resourceVersion"] = json!("");
    let unlocked = cluster.replace(&kind, "", "a", ObjectPart::Main, &newer).await;
    assert_eq!(failure(unlocked), (WriteErrorKind::Invalid, 422));
}

#[tokio::test]
async fn invalid_and_too_large_objects_are_rejected() {
    namespace("rejected");
    let (cluster, kind) = (admin(), map_kind());
    let error =
        cluster.create(&kind, "rejected", &map("A_b", &json!({}))).await.expect_err("an invalid name");
    assert_eq!((error.kind, error.status), (WriteErrorKind::Invalid, 422));
    assert!(error.message.starts_with("ConfigMap \"A_b\" is invalid: metadata.name: "), "{error}");
    let expected = format!("cluster test: cannot create ConfigMap: the object is invalid: {}", error.message);
    assert_eq!(error.to_string(), expected);

    let malformed = cluster.create(&kind, "rejected", &json!({"kind": "Pod", "apiVersion": "v1"})).await;
    assert_eq!(failure(malformed), (WriteErrorKind::Invalid, 400));
    for name in ["a/b", ".."] {
        let error = cluster
            .delete(&kind, "rejected", name, Preconditions::default())
            .await
            .expect_err("an invalid name");
        assert_eq!((error.kind, error.status), (WriteErrorKind::Invalid, 0));
    }
    let no_namespace = cluster.create(&kind, "missing", &map("a", &json!({}))).await;
    assert_eq!(failure(no_namespace), (WriteErrorKind::NotFound, 404));

    // etcd refuses the first of these objects, and the server the other one.
    let kind = built_in("coordination.k8s.io", "Lease");
    for (bytes, status) in [(1_700_000, 500), (3_300_000, 413)] {
        let spec = json!({"holderIdentity": "x".repeat(bytes)});
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "large"}, "spec": spec});
        let large = cluster.create(&kind, "rejected", &lease).await;
        assert_eq!(failure(large), (WriteErrorKind::TooLarge, status));
    }
}

#[tokio::test]
async fn refused_callers_are_reported() {
    namespace("refused");
    let kind = map_kind();
    let server = KubeServer::shared();
    let write = async |token: &str| {
        let cluster = with_token(server, token);
        failure(cluster.create(&kind, "refused", &map("a", &json!({}))).await)
    };
    assert_eq!(write(LIMITED_TOKEN).await, (WriteErrorKind::Forbidden, 403));
    assert_eq!(write("expired").await, (WriteErrorKind::Unauthorized, 401));
}

#[tokio::test]
async fn write_with_an_expired_token_is_sent_again_with_a_new_one() {
    namespace("renewed");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "expired").unwrap();
    let identity = KubeIdentity::TokenFile(file.clone());
    let cluster = KubeCluster::new(connection(KubeServer::shared(), identity), options());
    let write = async || cluster.create(&map_kind(), "renewed", &map("a", &json!({}))).await;
    assert_eq!(failure(write().await), (WriteErrorKind::Unauthorized, 401));
    fs::write(&file, ADMIN_TOKEN).unwrap();
    write().await.expect("the new token");
}

#[tokio::test]
async fn dry_run_stores_nothing() {
    namespace("dry");
    config_map("dry", "old", &json!({"k": "1"}));
    let kind = map_kind();
    let with = |is_dry_run| {
        let write = WriteOptions { is_dry_run, field_manager: "a b&c".to_owned() };
        let identity = KubeIdentity::Token(Secret::new(ADMIN_TOKEN));
        KubeCluster::new(connection(KubeServer::shared(), identity), KubeOptions { write, ..options() })
    };
    let created =
        with(false).create(&kind, "dry", &map("other", &json!({"k": "1"}))).await.expect("a creation");
    assert_eq!(created["metadata"]["managedFields"][0]["manager"], "a b&c");
    let cluster = with(true);
    cluster.create(&kind, "dry", &map("a", &json!({}))).await.expect("a dry run");
    let patch = json!({"data": {"k": "2"}});
    let patched = cluster.merge_patch(&kind, "dry", "old", ObjectPart::Main, &patch).await;
    assert_eq!(patched.expect("a dry run")["data"], patch["data"]);
    let replaced = cluster.replace(&kind, "dry", "old", ObjectPart::Main, &map("old", &json!({}))).await;
    assert!(!replaced.expect("a dry run").is_created);
    assert!(cluster.delete(&kind, "dry", "old", Preconditions::default()).await.expect("a dry run"));
    assert_eq!(cluster.get(&kind, "dry", "a").await.expect("no error"), None);
    let old = cluster.get(&kind, "dry", "old").await.expect("no error").expect("an object");
    assert_eq!(old.object()["data"], json!({"k": "1"}));
}

#[tokio::test]
async fn lease_without_uid_is_created_by_a_replacement() {
    namespace("leases");
    let (cluster, kind) = (admin(), built_in("coordination.k8s.io", "Lease"));
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}});
    let mut lease = cluster.create(&kind, "leases", &lease).await.expect("a creation");
    assert!(cluster.delete(&kind, "leases", "a", Preconditions::default()).await.expect("a deletion"));
    let guarded = cluster.replace(&kind, "leases", "a", ObjectPart::Main, &lease).await;
    assert_eq!(failure(guarded), (WriteErrorKind::Conflict, 409));
    lease["metadata"]["uid"].take();
    let written = cluster.replace(&kind, "leases", "a", ObjectPart::Main, &lease).await.expect("an update");
    assert!(written.is_created);
}

#[tokio::test]
async fn write_is_sent_once() {
    let status = json!({"kind": "Status", "reason": "InternalError", "message": "é".repeat(1000)});
    let cases = [
        (Reply::Whole(429, "Retry-After: 15\r\n", "Too many requests".to_owned()), 429),
        (Reply::Whole(500, "", status.to_string()), 500),
        (Reply::Whole(503, "", "<html>hunter2</html>".to_owned()), 503),
        (Reply::Raw(String::new()), 0),
        (Reply::Raw("HTTP/1.1 201 X\r\nContent-Length: 100\r\n\r\n{".to_owned()), 0),
        // The status is known without a complete body.
        (Reply::Raw("HTTP/1.1 409 X\r\nContent-Length: 100\r\n\r\n{".to_owned()), 409),
        (ok("<html>hunter2</html>"), 0),
        (ok("[]"), 0),
    ];
    let kinds = [
        WriteErrorKind::Throttled(Some(Duration::from_secs(15))),
        WriteErrorKind::Failed,
        WriteErrorKind::Failed,
        WriteErrorKind::Unreachable,
        WriteErrorKind::Unreachable,
        WriteErrorKind::Conflict,
        WriteErrorKind::Unreachable,
        WriteErrorKind::Unreachable,
    ];
    for ((reply, status), kind) in cases.into_iter().zip(kinds) {
        let reply = std::sync::Mutex::new(Some(reply));
        let server = Scripted::start(move |_, _| reply.lock().unwrap().take().expect("one request"));
        let object = map("a", &json!({"k": "hunter2"}));
        let error = server.cluster().create(&map_kind(), "ns", &object).await.expect_err("a failure");
        assert_eq!((error.kind, error.status), (kind, status), "{}", chain(&error));
        assert!(!chain(&error).contains("hunter2"), "{}", chain(&error));
        assert!(error.message.len() <= 1024 && error.message.chars().all(|c| c == 'é'), "{error}");
        assert_eq!(server.requests(), ["/api/v1/namespaces/ns/configmaps?fieldManager=tiphys"]);
    }
}

#[tokio::test]
async fn slow_write_is_left_in_time() {
    let server = Scripted::start(|_, _| Reply::Hanging(String::new()));
    let cluster =
        server.cluster_with(KubeOptions { request_timeout: Duration::from_millis(100), ..options() });
    let error = cluster.create(&map_kind(), "ns", &map("a", &json!({}))).await.expect_err("a time-out");
    assert_eq!((error.kind, error.status), (WriteErrorKind::Unreachable, 0));
    assert_eq!(Limit::of(&error), Some(Limit::KUBE_REQUEST_TIMEOUT), "{}", chain(&error));
    wait::eventually("the request is received", || server.requests().len() == 1).await;
}
