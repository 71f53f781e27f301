//! Kinds and objects.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::json;
use tiphys_engine::{Manifest, Scope, ServedKind, ServedKinds, UnknownKind};
use tiphys_kube::cluster_reader::{ClusterErrorKind, ClusterReader as _, ListContent};
use tiphys_testkit::kube_server::{KubeServer, LIMITED_TOKEN};
use tiphys_testkit::wait;

use crate::support::{admin, config_map, kind, namespace, with_token};

#[tokio::test]
async fn built_in_kinds_are_those_of_a_server() {
    let served = admin().kinds().await.expect("discovery");
    let built_in = ServedKinds::built_in();
    let is_readable = |kind: &&ServedKind| kind.has_verb("get");
    for kind in served.iter().filter(is_readable).filter(|kind| !kind.group.ends_with(".example.com")) {
        let own = built_in.find(&kind.group, &kind.kind, None);
        let own = own.unwrap_or_else(|error| panic!("{}: {error}", kind.full_name()));
        assert_eq!((&own.version, &own.plural, own.scope), (&kind.version, &kind.plural, kind.scope));
        // The error for another version names those that are served.
        let versions = |kinds: &ServedKinds| kinds.find(&kind.group, &kind.kind, Some("none")).cloned();
        assert!(matches!(versions(&served), Err(UnknownKind::Version { .. })), "{}", kind.full_name());
        assert_eq!(versions(&built_in), versions(&served));
    }
    for kind in built_in.iter() {
        assert!(served.find(&kind.group, &kind.kind, None).is_ok(), "{}", kind.full_name());
    }
}

#[tokio::test]
async fn custom_resources_are_found_and_a_dead_group_is_reported() {
    let server = KubeServer::shared();
    let names = json!({"kind": "Widget", "plural": "widgetry", "singular": "widget"});
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version = |name: &str, is_stored: bool| json!({"name": name, "served": true, "storage": is_stored, "schema": schema});
    let definition = json!({
        "metadata": {"name": "widgetry.parts.example.com"},
        "spec": {
            "group": "parts.example.com",
            "scope": "Cluster",
            "names": names,
            "versions": [version("v1beta1", false), version("v1", true)]
        }
    });
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
    let service = json!({
        "metadata": {"name": "v1.dead.example.com"},
        "spec": {
            "group": "dead.example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
            "insecureSkipTLSVerify": true, "service": {"namespace": "default", "name": "missing"}
        }
    });
    server.create("/apis/apiregistration.k8s.io/v1/apiservices", &service);
    // The server reads definitions and services asynchronously.
    let begin = Instant::now();
    let kinds = loop {
        let kinds = admin().kinds().await.expect("discovery");
        if kinds.find("parts.example.com", "Widget", None).is_ok() && kinds.failed_groups().next().is_some() {
            break kinds;
        }
        assert!(begin.elapsed() < wait::PATIENCE, "the definition or the service is unknown");
    };
    let widget = kinds.find("parts.example.com", "Widget", None).expect("a served kind");
    assert_eq!(
        (widget.version.as_str(), widget.plural.as_str(), widget.scope),
        ("v1", "widgetry", Scope::Cluster)
    );
    assert!(matches!(kinds.find("dead.example.com", "Any", None), Err(UnknownKind::DiscoveryFailed { .. })));

    let path = "/apis/parts.example.com/v1/widgetry";
    wait::eventually("the kind is served", || server.status_of(path) == 200).await;
    server.create(path, &json!({"apiVersion": "parts.example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "size": 1}));
    for version in [None, Some("v1beta1")] {
        let cluster = admin();
        let kind = kinds.find("parts.example.com", "Widget", version).expect("a served version");
        let object = cluster.get(kind, "", "a").await.expect("no error").expect("an object");
        assert_eq!(object.object()["apiVersion"], json!(kind.api_version()));
        assert_eq!(object.object()["size"], json!(1));
    }
}

#[tokio::test]
async fn objects_are_read_by_name_and_as_lists() {
    namespace("objects-a");
    namespace("objects-b");
    config_map("objects-b", "x", &json!({"k": "hunter2"}));
    config_map("objects-a", "y", &json!({"k": "v"}));
    let cluster = admin();
    let kind = kind(&cluster, "", "ConfigMap").await;
    let found = cluster.get(&kind, "objects-b", "x").await.expect("no error").expect("an object");
    assert_eq!(found.object()["data"], json!({"k": "hunter2"}));
    for (namespace, name) in [("objects-b", "y"), ("missing", "x"), ("objects-b", "a/b"), ("", "x")] {
        assert_eq!(cluster.get(&kind, namespace, name).await.expect("no error"), None, "{namespace}/{name}");
    }
    let keys = |objects: &[Manifest]| -> Vec<String> {
        let keys = objects.iter().map(|object| object.key().to_string());
        keys.filter(|key| key.contains(" objects-")).collect()
    };
    let all = cluster.list(&kind, None, ListContent::Objects).await.expect("no error");
    assert_eq!(keys(&all), ["ConfigMap objects-a/y", "ConfigMap objects-b/x"]);
    let metadata = cluster.list(&kind, Some("objects-b"), ListContent::Metadata).await.expect("no error");
    assert_eq!(keys(&metadata), ["ConfigMap objects-b/x"]);
    let fields: Vec<&String> = metadata[0].object().keys().collect();
    assert_eq!(fields, ["apiVersion", "kind", "metadata"]);
    assert_eq!(
        cluster.version().await.expect("no error").as_deref().map(|version| &version[..2]),
        Some("v1")
    );
}

#[tokio::test]
async fn user_without_permission_is_forbidden() {
    let server = KubeServer::shared();
    namespace("forbidden");
    config_map("forbidden", "x", &json!({"k": "hunter2"}));
    server.permit("read-endpoints", &["get"], "", &["endpoints"]);
    let cluster = with_token(server, LIMITED_TOKEN);
    let map = kind(&cluster, "", "ConfigMap").await;
    // The message is the same for existing and missing objects.
    for name in ["x", "missing"] {
        let error = cluster.get(&map, "forbidden", name).await.expect_err("no permission");
        assert_eq!(error.kind, ClusterErrorKind::Forbidden);
        let expected = "cluster test: cannot get ConfigMap: permission denied; grant the user of this cluster the verb (RBAC)";
        assert_eq!(error.to_string(), expected);
    }
    let error = cluster.list(&map, None, ListContent::Metadata).await.expect_err("no permission");
    assert_eq!((error.kind, error.request.as_str()), (ClusterErrorKind::Forbidden, "list ConfigMap"));
    let error = cluster.watch(&map, None, &BTreeSet::new()).await.err().expect("no permission");
    assert_eq!((error.kind, error.request.as_str()), (ClusterErrorKind::Forbidden, "list ConfigMap"));
    server.permit("list-services", &["list"], "", &["services"]);
    let services = kind(&cluster, "", "Service").await;
    let error = cluster.watch(&services, None, &BTreeSet::new()).await.err().expect("no permission");
    assert_eq!((error.kind, error.request.as_str()), (ClusterErrorKind::Forbidden, "watch Service"));

    let endpoints = kind(&cluster, "", "Endpoints").await;
    let found = cluster.get(&endpoints, "default", "kubernetes").await.expect("permitted");
    assert!(found.is_some());
    let error =
        cluster.list(&endpoints, None, ListContent::Objects).await.expect_err("only get is permitted");
    assert_eq!(error.kind, ClusterErrorKind::Forbidden);
}
