//! Servers that fail, and servers of older versions.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tiphys_engine::{Manifest, Scope, ServedKind, UnknownKind};
use tiphys_kube::cluster_reader::{ClusterErrorKind, ClusterReader as _, ListContent, REQUESTS_MAX};
use tiphys_kube::{KubeCluster, KubeConnection, KubeIdentity, KubeOptions};
use tiphys_model::access::Secret;
use tiphys_model::limits::Limit;
use tiphys_testkit::canned_server::CannedServer;
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer};

use crate::scripted::{Reply, Scripted, at, ok};
use crate::support::{chain, connection, options};

/// The kind of the requests.
fn config_map() -> ServedKind {
    ServedKind {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        plural: "configmaps".to_owned(),
        scope: Scope::Namespaced,
        verbs: ["get".to_owned()].into(),
    }
}

/// Gets an object. Returns the kind of the failure and the message.
async fn get(cluster: &KubeCluster) -> Result<(), (ClusterErrorKind, String)> {
    let found = cluster.get(&config_map(), "ns", "a").await;
    found.map(drop).map_err(|error| (error.kind, chain(&error)))
}

#[tokio::test]
async fn overloaded_server_is_asked_again() {
    let server = Scripted::start(|earlier, _| match earlier {
        0 => Reply::Whole(429, "Retry-After: 0\r\n", "hunter2".to_owned()),
        1 => Reply::Whole(503, "", "hunter2".to_owned()),
        _ => ok(r#"{"kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}"#),
    });
    assert_eq!(get(&server.cluster()).await, Ok(()));
    assert_eq!(server.requests(), ["/api/v1/namespaces/ns/configmaps/a"; 3]);
}

#[tokio::test]
async fn failing_server_is_reported_after_some_repetitions() {
    for status in [429, 500, 504] {
        let server = Scripted::start(move |_, _| Reply::Whole(status, "", "hunter2".to_owned()));
        let message = format!(
            "cluster scripted: cannot get ConfigMap: the server failed; try again later: HTTP status {status}"
        );
        assert_eq!(get(&server.cluster()).await, Err((ClusterErrorKind::Failed, message)));
        assert_eq!(server.requests().len(), 4);
    }
    // A pause that would exceed the time of the request is not made.
    let server = Scripted::start(|_, _| Reply::Whole(429, "Retry-After: 3600\r\n", String::new()));
    assert_eq!(get(&server.cluster()).await.map_err(|(kind, _)| kind), Err(ClusterErrorKind::Failed));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn longest_retry_after_is_not_waited_for() {
    // After a second, the sum of both times is more than a duration can be.
    let server = Scripted::start(|earlier, _| match earlier {
        0 => Reply::Whole(503, "", String::new()),
        _ => Reply::Whole(429, "Retry-After: 18446744073709551615\r\n", String::new()),
    });
    let options = KubeOptions { pause: Duration::from_secs(1), ..options() };
    let (kind, message) = get(&server.cluster_with(options)).await.expect_err("an overloaded server");
    assert_eq!(kind, ClusterErrorKind::Failed, "{message}");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn slow_server_is_left_in_time() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{";
    for sent in ["", head] {
        let server = Scripted::start(move |_, _| Reply::Hanging(sent.to_owned()));
        let options = KubeOptions { request_timeout: Duration::from_millis(100), ..options() };
        let error = server.cluster_with(options).get(&config_map(), "ns", "a").await.expect_err("a time-out");
        assert_eq!(error.kind, ClusterErrorKind::Unreachable);
        assert_eq!(Limit::of(&error), Some(Limit::KUBE_REQUEST_TIMEOUT));
        assert!(chain(&error).contains("no complete response within 100ms"), "{}", chain(&error));
    }
}

#[tokio::test]
async fn concurrent_requests_are_limited() {
    let server = Scripted::start(|_, _| Reply::Hanging(String::new()));
    let cluster =
        server.cluster_with(KubeOptions { request_timeout: Duration::from_millis(300), ..options() });
    let mut requests: FuturesUnordered<_> = (0..3 * REQUESTS_MAX).map(|_| get(&cluster)).collect();
    assert!(requests.next().await.is_some_and(|first| first.is_err()));
    assert!(server.requests().len() <= REQUESTS_MAX, "{:?}", server.requests());
}

#[tokio::test]
async fn unreachable_server_is_reported() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for server in [&format!("http://{free}"), "https://", "k:6443", "ftp://k"] {
        let (kind, message) = get(&at(server, options())).await.expect_err(server);
        assert_eq!(kind, ClusterErrorKind::Unreachable, "{message}");
    }
}

#[tokio::test]
async fn failure_is_cached_until_it_is_forgotten() {
    let is_well = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&is_well);
    let server = Scripted::start(move |_, path| match (answers.load(Ordering::Relaxed), path) {
        (false, _) => Reply::Raw(String::new()),
        (true, "/api") => ok(r#"{"kind":"APIVersions","versions":[]}"#),
        (true, "/apis") => ok(r#"{"kind":"APIGroupList","groups":[]}"#),
        (true, _) => ok(r#"{"gitVersion":"v1.36.3"}"#),
    });
    let cluster = server.cluster();
    let read = async || {
        let errors = [cluster.kinds().await.err(), cluster.version().await.err()];
        errors.map(|error| error.map(|error| (error.kind, chain(&error))))
    };
    let first = read().await;
    assert!(first.iter().all(Option::is_some), "{first:?}");
    is_well.store(true, Ordering::Relaxed);
    assert_eq!(read().await, first);
    assert_eq!(server.requests(), ["/api", "/version"]);
    cluster.forget_failures();
    assert_eq!(read().await, [None, None]);
    // Responses stay.
    cluster.forget_failures();
    assert_eq!(read().await, [None, None]);
    assert_eq!(server.requests(), ["/api", "/version", "/api", "/apis", "/version"]);
}

#[tokio::test]
async fn incomplete_and_malformed_responses_are_reported() {
    let cases = [
        Reply::Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_owned()),
        Reply::Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":".to_owned()),
        ok("<html>hunter2</html>"),
        ok("[\"hunter2\"]"),
        // Other objects than the requested one.
        ok(r#"{"kind":"Secret","metadata":{"name":"a","namespace":"ns"}}"#),
        ok(r#"{"kind":"ConfigMap","metadata":{"name":"hunter2","namespace":"ns"}}"#),
        ok(r#"{"kind":"ConfigMap","metadata":{"name":"a","namespace":"hunter2"}}"#),
    ];
    for reply in cases {
        let reply = std::sync::Mutex::new(Some(reply));
        let server = Scripted::start(move |_, _| reply.lock().unwrap().take().expect("one request"));
        let (kind, message) = get(&server.cluster()).await.expect_err("an invalid response");
        assert_eq!(kind, ClusterErrorKind::Interrupted, "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    let server = Scripted::start(|_, _| ok(format!(r#"{{"data":"{}"}}"#, "x".repeat(2000))));
    let options = KubeOptions { response_bytes_max: 1000, ..options() };
    let error = server.cluster_with(options).get(&config_map(), "ns", "a").await.expect_err("too large");
    assert_eq!(error.kind, ClusterErrorKind::Interrupted);
    assert_eq!(Limit::of(&error), Some(Limit::KUBE_RESPONSE_BYTES_MAX));
}

#[tokio::test]
async fn all_pages_of_a_list_are_read() {
    let page = |name: &str, next: &str| {
        ok(json!({"metadata": {"continue": next}, "items": [{"metadata": {"name": name}}]}).to_string())
    };
    let server = Scripted::start(move |_, path| match path {
        "/api/v1/configmaps?limit=500" => page("two", "a/b="),
        "/api/v1/configmaps?limit=500&continue=a%2Fb%3D" => page("one", ""),
        // This list has a page that expires.
        "/api/v1/namespaces/ns/configmaps?limit=500" => page("old", "c"),
        "/api/v1/namespaces/ns/configmaps?limit=500&continue=c" => Reply::Whole(410, "", String::new()),
        "/api/v1/namespaces/ns/configmaps?" => page("new", ""),
        _ => Reply::Whole(400, "", String::new()),
    });
    for (namespace, expected) in [(None, vec!["one", "two"]), (Some("ns"), vec!["new"])] {
        let found =
            server.cluster().list(&config_map(), namespace, ListContent::Objects).await.expect("a list");
        assert_eq!(found.iter().map(Manifest::name).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn list_without_end_is_left() {
    let page =
        |next: &str, size: usize| json!({"metadata": {"continue": next}, "items": [], "x": "x".repeat(size)});
    for (page, pages) in [(page("more", 0), 4), (page("more", 100 << 10), 3), (page("", 300 << 10), 1)] {
        let page = page.to_string();
        let server = Scripted::start(move |_, _| ok(page.clone()));
        let options = KubeOptions { list_bytes_max: 220 << 10, ..options() };
        let listed = server.cluster_with(options).list(&config_map(), None, ListContent::Objects).await;
        let error = listed.expect_err("a list without end");
        assert_eq!(error.kind, ClusterErrorKind::Interrupted);
        assert_eq!(Limit::of(&error), Some(Limit::KUBE_LIST_BYTES_MAX));
        assert!(
            chain(&error).contains("the pages of the list have more than 225280 bytes"),
            "{}",
            chain(&error)
        );
        assert_eq!(server.requests().len(), pages);
    }
}

#[tokio::test]
async fn list_of_metadata_has_no_other_fields() {
    // This server does not know such lists.
    let item = json!({"metadata": {"name": "a"}, "data": {"k": "hunter2"}});
    let server = Scripted::start(move |_, _| ok(json!({"items": [item]}).to_string()));
    let found = server.cluster().list(&config_map(), None, ListContent::Metadata).await.expect("a list");
    let expected = json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}]);
    assert_eq!(json!(found.into_iter().map(Manifest::into_value).collect::<Vec<_>>()), expected);
}

#[tokio::test]
async fn older_server_is_asked_for_each_group() {
    let server = Scripted::start(|_, path| {
        let resource = |name: &str, kind: &str| json!({"name": name, "kind": kind, "namespaced": true, "verbs": ["get"]});
        let list = |version: &str, resource| json!({"kind": "APIResourceList", "groupVersion": version, "resources": [resource]});
        let group = |name: &str| {
            let version = json!({"groupVersion": format!("{name}/v1"), "version": "v1"});
            json!({"name": name, "versions": [version], "preferredVersion": version})
        };
        ok(match path {
            "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}),
            "/apis" => json!({"kind": "APIGroupList", "groups": [group("apps"), group("dead.example.com")]}),
            "/api/v1" => list("v1", resource("pods", "Pod")),
            "/apis/apps/v1" => list("apps/v1", resource("deployments", "Deployment")),
            _ => return Reply::Whole(503, "", String::new()),
        }
        .to_string())
    });
    let kinds = server.cluster().kinds().await.expect("discovery");
    let names: Vec<String> = kinds.iter().map(ServedKind::full_name).collect();
    assert_eq!(names, ["Pod", "Deployment.apps"]);
    assert!(matches!(kinds.find("dead.example.com", "A", None), Err(UnknownKind::DiscoveryFailed { .. })));
}

#[tokio::test]
async fn proxy_is_used_with_its_credentials() {
    let server = KubeServer::shared();
    let proxy = CannedServer::tunnel(&server.address().to_string());
    let connection = KubeConnection {
        proxy: Some(Secret::new(format!("http://user:pass@{}", proxy.host()))),
        ..connection(server, KubeIdentity::Token(Secret::new(ADMIN_TOKEN)))
    };
    KubeCluster::new(connection, options()).version().await.expect("a version");
    let request = &proxy.requests()[0];
    assert_eq!((&*request.method, &*request.path), ("CONNECT", &*server.address().to_string()));
    let authorization = request.header("Proxy-Authorization").unwrap_or_default();
    assert!(authorization.to_lowercase().starts_with("basic"), "{request:?}");
    assert!(!format!("{request:?}").contains(ADMIN_TOKEN), "{request:?}");
}
