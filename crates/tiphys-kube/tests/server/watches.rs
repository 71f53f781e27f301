//! Watches.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use serde_json::json;
use tiphys_engine::Manifest;
use tiphys_kube::cluster_reader::{ClusterError, ClusterErrorKind, ClusterReader as _, WatchEvent};
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer};

use crate::scripted::{Reply, Scripted, ok};
use crate::support::{admin, config_map, kind, namespace, with_token};

type Events = BoxStream<'static, Result<WatchEvent, ClusterError>>;

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the next event as its type and the names and values of its objects.
async fn next(events: &mut Events) -> String {
    let shown = |object: &Manifest| {
        let value = object.object().get("data").and_then(|data| data["k"].as_str());
        let managed = object.object().get("metadata").and_then(|metadata| metadata.get("managedFields"));
        assert_eq!(managed, None, "most of an object's memory");
        format!("{}={}", object.name(), value.unwrap_or("-"))
    };
    match events.next().await.expect("a watch does not end") {
        Ok(WatchEvent::Listed(objects)) => {
            format!("listed {}", objects.iter().map(shown).collect::<Vec<_>>().join(" "))
        }
        Ok(WatchEvent::Changed(object)) => format!("changed {}", shown(&object)),
        Ok(WatchEvent::Deleted(object)) => format!("deleted {}", shown(&object)),
        Err(error) => format!("{:?}", error.kind),
    }
}

#[tokio::test]
async fn changes_of_one_object_are_reported() {
    let server = KubeServer::shared();
    namespace("watched");
    config_map("watched", "other", &json!({"k": "0"}));
    config_map("watched", "one", &json!({"k": "1"}));
    let cluster = admin();
    let kind = kind(&cluster, "", "ConfigMap").await;
    let mut one = cluster.watch(&kind, Some("watched"), &names(&["one"])).await.expect("a watch");
    let mut two = cluster.watch(&kind, Some("watched"), &names(&["one", "third"])).await.expect("a watch");
    let mut all = cluster.watch(&kind, Some("watched"), &names(&[])).await.expect("a watch");
    assert_eq!(next(&mut one).await, "listed one=1");
    assert_eq!(next(&mut two).await, "listed one=1");
    assert_eq!(next(&mut all).await, "listed one=1 other=0");
    config_map("watched", "fourth", &json!({}));
    config_map("watched", "third", &json!({}));
    let path = "/api/v1/namespaces/watched/configmaps/one";
    server.replace(path, &json!({"metadata": {"name": "one"}, "data": {"k": "2"}}));
    server.delete(path);
    assert_eq!(next(&mut one).await, "changed one=2");
    assert_eq!(next(&mut one).await, "deleted one=2");
    for expected in ["changed third=-", "changed one=2", "deleted one=2"] {
        assert_eq!(next(&mut two).await, expected);
    }
    assert_eq!(next(&mut all).await, "changed fourth=-");
    assert_eq!(next(&mut all).await, "changed third=-");
    assert_eq!(next(&mut all).await, "changed one=2");
    assert_eq!(next(&mut all).await, "deleted one=2");
}

/// The list of a scripted server.
fn list(version: &str, value: &str) -> Reply {
    let item = json!({"metadata": {"name": "a", "resourceVersion": version}, "data": {"k": value}});
    ok(json!({"metadata": {"resourceVersion": version}, "items": [item]}).to_string())
}

/// The lines of a watch of a scripted server.
fn lines(events: &[serde_json::Value]) -> Reply {
    let lines: Vec<String> = events.iter().map(|event| event.to_string() + "\n").collect();
    ok(lines.concat())
}

fn changed(version: &str, value: &str) -> serde_json::Value {
    json!({"type": "MODIFIED", "object": {"metadata": {"name": "a", "resourceVersion": version}, "data": {"k": value}}})
}

/// Returns the versions that the watches of a server began with.
fn versions(server: &Scripted) -> Vec<String> {
    let requests = server.requests().into_iter();
    requests
        .filter_map(|path| path.split_once("resourceVersion=").map(|(_, version)| version.to_owned()))
        .collect()
}

fn scripted_kind() -> tiphys_engine::ServedKind {
    let kinds = tiphys_engine::ServedKinds::built_in();
    kinds.find("", "ConfigMap", None).expect("a kind of Kubernetes").clone()
}

#[tokio::test]
async fn watch_continues_after_the_last_event_and_lists_after_410() {
    let gone = json!({"type": "ERROR", "object": {"kind": "Status", "code": 410}});
    let bookmark = json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "3"}}});
    let server = Scripted::start(move |earlier, _| match earlier {
        0 => list("1", "one"),
        1 => lines(&[changed("2", "two"), bookmark.clone()]),
        2 => lines(std::slice::from_ref(&gone)),
        3 => list("10", "ten"),
        4 => Reply::Whole(410, "", String::new()),
        5 => list("20", "twenty"),
        6 => lines(&[changed("21", "x")]),
        _ => Reply::Hanging(String::new()),
    });
    let mut events = server.cluster().watch(&scripted_kind(), None, &names(&[])).await.expect("a watch");
    for expected in ["listed a=one", "changed a=two", "listed a=ten", "listed a=twenty", "changed a=x"] {
        assert_eq!(next(&mut events).await, expected);
    }
    assert_eq!(versions(&server), ["1", "3", "10", "20"]);
}

#[tokio::test]
async fn watch_goes_on_after_failures() {
    let server = Scripted::start(move |earlier, _| match earlier {
        0 => list("1", "one"),
        1 => Reply::Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"typ".to_owned()),
        2 => list("2", "two"),
        3 => lines(&[json!({"type": "ERROR", "object": {"code": 500}})]),
        4 => list("3", "three"),
        5 => Reply::Whole(403, "", String::new()),
        6 => list("4", "four"),
        // Connections that end at once are not a failure.
        7 | 8 => lines(&[]),
        9 => lines(&[changed("5", "five"), json!("hunter2")]),
        _ => list("6", "six"),
    });
    let mut events = server.cluster().watch(&scripted_kind(), None, &names(&[])).await.expect("a watch");
    let expected = [
        "listed a=one",
        "Interrupted",
        "listed a=two",
        "Failed",
        "listed a=three",
        "Forbidden",
        "listed a=four",
        "changed a=five",
        "Interrupted",
        "listed a=six",
    ];
    for expected in expected {
        assert_eq!(next(&mut events).await, expected);
    }
}

#[tokio::test]
async fn repeated_events_are_left_out() {
    let deleted = json!({"type": "DELETED", "object": {"metadata": {"name": "a", "resourceVersion": "3"}}});
    let other = json!({"type": "ADDED", "object": {"metadata": {"name": "b", "resourceVersion": "4"}}});
    let server = Scripted::start(move |earlier, _| match earlier {
        0 => list("1", "one"),
        1 => lines(&[
            changed("2", "two"),
            deleted.clone(),
            changed("2", "two"),
            deleted.clone(),
            other.clone(),
        ]),
        _ => Reply::Hanging(String::new()),
    });
    let mut events = server.cluster().watch(&scripted_kind(), None, &names(&[])).await.expect("a watch");
    for expected in ["listed a=one", "changed a=two", "deleted a=-", "changed b=-"] {
        assert_eq!(next(&mut events).await, expected);
    }
}

#[tokio::test]
async fn pauses_increase_while_only_lists_succeed() {
    let gone = json!({"type": "ERROR", "object": {"kind": "Status", "code": 410}});
    for failure in
        [Reply::Whole(410, "", String::new()), Reply::Whole(403, "", String::new()), lines(&[gone])]
    {
        let server = Scripted::start(move |earlier, path| match earlier {
            _ if !path.contains("watch=true") => list("1", "one"),
            1 => lines(&[changed("2", "two")]),
            _ => failure.clone(),
        });
        let mut events = server.cluster().watch(&scripted_kind(), None, &names(&[])).await.expect("a watch");
        let begin = Instant::now();
        let mut lists = 0;
        while lists < 8 {
            lists += usize::from(next(&mut events).await.starts_with("listed"));
        }
        // The first pause is 2 ms.
        assert!(begin.elapsed() > Duration::from_millis(2 * (2_u64.pow(6) - 1)), "{:?}", begin.elapsed());
    }
}

#[tokio::test]
async fn watch_reports_a_server_that_ends() {
    let server = KubeServer::start();
    let cluster = with_token(&server, ADMIN_TOKEN);
    let kind = kind(&cluster, "", "Namespace").await;
    let mut events = cluster.watch(&kind, None, &names(&["default"])).await.expect("a watch");
    assert_eq!(next(&mut events).await, "listed default=-");
    drop(server);
    // The connection is cut, or it is refused when it is made again.
    let error = loop {
        if let Err(error) = events.next().await.expect("a watch does not end") {
            break error;
        }
    };
    assert!(matches!(error.kind, ClusterErrorKind::Interrupted | ClusterErrorKind::Unreachable), "{error}");
    assert_eq!(next(&mut events).await, "Unreachable");
}

#[tokio::test]
async fn objects_that_cannot_exist_are_not_requested() {
    let server = Scripted::start(|_, _| Reply::Whole(500, "", String::new()));
    let mut events =
        server.cluster().watch(&scripted_kind(), Some("a/b"), &names(&[])).await.expect("a watch");
    assert_eq!(next(&mut events).await, "listed ");
    assert_eq!(server.requests(), Vec::<String>::new());
}
