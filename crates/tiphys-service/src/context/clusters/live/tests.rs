use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use tiphys_kube::cluster_reader::ClusterStateArgument;

use super::super::{DestinationClusters, OpenCluster};
use super::*;
use crate::context::options::ClusterContext;

fn options(folder: &TempDir, kubernetes: KubernetesAccess) -> ServiceOptions {
    let cache_dir = Some(folder.path().join("cache"));
    ServiceOptions { kubernetes, cache_dir, ..ServiceOptions::default() }
}

fn service(folder: &TempDir, kubernetes: KubernetesAccess) -> Service {
    Service::open(options(folder, kubernetes), Host::for_tests(&[])).expect("a service")
}

/// Writes a kubeconfig, and returns the access with contexts, each of which is `CONTEXT` or `CLUSTER=CONTEXT`.
fn access(folder: &TempDir, contexts: &[&str]) -> KubernetesAccess {
    let file = folder.path().join("kubeconfig");
    let cluster = |server: &str| json!({"name": server, "cluster": {"server": server}});
    let context = |name: &str, cluster: &str| json!({"name": name, "context": {"cluster": cluster}});
    let kubeconfig = json!({
        "clusters": [cluster("https://one"), cluster("https://two"), cluster("https://two/")],
        "contexts": [context("one", "https://one"), context("two", "https://two"), context("too", "https://two/")],
    });
    fs::write(&file, kubeconfig.to_string()).expect("a file");
    let context = |written: &&str| {
        let (cluster, context) = written.split_once('=').map_or((None, *written), |(a, b)| (Some(a), b));
        ClusterContext { cluster: cluster.map(str::to_owned), context: context.to_owned() }
    };
    let contexts: Vec<ClusterContext> = contexts.iter().map(context).collect();
    let kubeconfigs = if contexts.is_empty() { Vec::new() } else { vec![file] };
    KubernetesAccess { kubeconfigs, contexts, ..KubernetesAccess::default() }
}

fn error_of(contexts: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a directory");
    let kubernetes = access(&folder, contexts);
    connections(&service(&folder, kubernetes)).err().map(|error| error.message())
}

#[test]
fn contexts_of_one_name_or_url_are_rejected() {
    let error = |cluster: &str, one: &str, other: &str| {
        Some(format!(
            "cluster \"{cluster}\" has two connections: context \"{one}\" and context \"{other}\"; remove one"
        ))
    };
    for (contexts, expected) in [
        (&["one"][..], None),
        (&["one", "prod=two"], None),
        (&["one", "prod=one"], None),
        (&["one", "two"], error(IN_CLUSTER_SERVER, "one", "two")),
        (&["one", "in-cluster=two"], error(IN_CLUSTER_SERVER, "one", "two")),
        (&["prod=one", "prod=two"], error("prod", "one", "two")),
        (&["a=two", "b=too"], error("https://two", "two", "too")),
    ] {
        assert_eq!(error_of(contexts), expected, "{contexts:?}");
    }
}

/// A cluster Secret.
fn secret(name: &str, data: &Value) -> Value {
    let labels = json!({"argocd.argoproj.io/secret-type": "cluster"});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "labels": labels}, "stringData": data})
}

/// Returns Secrets, each of which has a file of its own, and a service that has them and contexts.
fn request(folder: &TempDir, secrets: &[Value], contexts: &[&str]) -> (Service, Vec<StoredSecret>) {
    let paths = secrets.iter().enumerate().map(|(index, secret)| {
        let path = folder.path().join(format!("{index}.json"));
        fs::write(&path, secret.to_string()).expect("a file");
        path
    });
    let kubernetes = KubernetesAccess { cluster_secrets: paths.collect(), ..access(folder, contexts) };
    let service = service(folder, kubernetes);
    let stored = read_cluster_secrets(service.options()).expect("valid files");
    (service, stored)
}

#[test]
fn secrets_of_one_name_or_url_are_rejected() {
    for (first, second, cluster) in [
        (json!({"server": "https://a"}), json!({"server": "https://b"}), None),
        (json!({"server": "https://a"}), json!({"server": "https://a/\n", "name": "a"}), Some("https://a")),
        (json!({"server": "https://a", "name": "x"}), json!({"server": "https://b", "name": "x"}), Some("x")),
    ] {
        let folder = tempfile::tempdir().expect("a directory");
        let (service, stored) = request(&folder, &[secret("one", &first), secret("two", &second)], &[]);
        let message = DestinationClusters::new(service, stored).err().map(|error| error.message());
        match (cluster, message) {
            (None, None) => {}
            (Some(cluster), Some(message)) => {
                let begin = format!("cluster {cluster:?} has two Secrets: one (");
                assert!(message.starts_with(&begin) && message.contains(" and two ("), "{message}");
            }
            (_, message) => panic!("{cluster:?} {message:?}"),
        }
    }
}

#[tokio::test]
async fn unusable_secret_fails_its_own_cluster_only() {
    let good = secret("good", &json!({"server": "https://127.0.0.1:1", "name": "good"}));
    let data = json!({"server": "https://bad", "name": "bad", "config": "{\"awsAuthConfig\": {}}"});
    let folder = tempfile::tempdir().expect("a directory");
    let (service, stored) = request(&folder, &[secret("bad", &data), good], &[]);
    let clusters = DestinationClusters::new(service, stored).expect("distinct clusters");
    let open = |name: &str| -> OpenCluster {
        let cluster = tiphys_model::project_rules::Cluster { server: None, name: Some(name.to_owned()) };
        clusters.open(&cluster).expect("clusters").expect("a cluster")
    };
    let good = open("good").reader.kinds().await.map(drop).expect_err("a closed port");
    assert_eq!(good.kind, tiphys_kube::cluster_reader::ClusterErrorKind::Unreachable);
    for name in ["bad", "https://bad"] {
        let message = chain(&open(name).reader.kinds().await.map(drop).expect_err("no connection"));
        let expected = "cluster bad: cannot list its kinds: its connection settings cannot be used: Secret bad: config.awsAuthConfig \
                        is not supported; put this cluster into a kubeconfig (";
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn context_is_used_instead_of_a_secret() {
    let of_secret = json!({"server": "https://s", "name": "prod"});
    for (contexts, expected) in [
        (&["one"][..], "https://s"),
        (&["prod=one"], "prod"),
        (&["https://s=one"], "https://s"),
        (&["a=one", "prod=one"], "prod"),
    ] {
        let folder = tempfile::tempdir().expect("a directory");
        let (service, stored) = request(&folder, &[secret("prod", &of_secret)], contexts);
        let clusters = DestinationClusters::new(service, stored).expect("distinct clusters");
        let open = |server: &str, name: &str| {
            let cluster =
                tiphys_model::project_rules::Cluster { server: Some(server.into()), name: Some(name.into()) };
            clusters.open(&cluster).expect("clusters")
        };
        let found = open("https://s", "prod").expect("a cluster");
        assert_eq!(found.name, expected, "{contexts:?}");
        let of_context = open("https://one", "").expect("a cluster");
        let is_of_context = Arc::ptr_eq(&found.reader, &of_context.reader);
        assert_eq!(is_of_context, contexts != ["one"], "{contexts:?}");
    }
}

#[test]
fn folder_is_used_instead_of_a_live_cluster() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("secret.json");
    fs::write(&file, secret("prod", &json!({"server": "https://s", "name": "prod"})).to_string())
        .expect("a file");
    let kubernetes = KubernetesAccess { cluster_secrets: vec![file], ..access(&folder, &["one", "two=two"]) };
    let state =
        |cluster: &str| ClusterStateArgument { cluster: cluster.to_owned(), folder: folder.path().into() };
    let options = ServiceOptions {
        cluster_state: vec![state(IN_CLUSTER_SERVER), state("prod")],
        ..options(&folder, kubernetes)
    };
    let service = Service::open(options, Host::for_tests(&[])).expect("a service");
    let stored = read_cluster_secrets(service.options()).expect("valid files");
    let clusters = DestinationClusters::new(service, stored).expect("distinct clusters");
    let clusters = clusters.all().expect("clusters");
    let is_live = |name: &str| clusters.named(name).map(|(_, reader)| reader.is_live());
    for (name, expected) in [
        ("prod", Some(false)),
        ("https://s", None),
        (IN_CLUSTER_SERVER, Some(false)),
        ("https://one", None),
        ("two", Some(true)),
        ("https://two", Some(true)),
    ] {
        assert_eq!(is_live(name), expected, "{name}");
    }
}

#[test]
fn name_and_url_of_a_context_are_one_cluster() {
    let of_secret = json!({"server": "https://s", "name": "prod"});
    let folder = tempfile::tempdir().expect("a directory");
    let (service, stored) = request(&folder, &[secret("prod", &of_secret)], &["prod=one", "test=two"]);
    let clusters = DestinationClusters::new(service, stored).expect("distinct clusters");
    let known = clusters.known();
    let known: Vec<(&str, &str)> = known.iter().map(|one| (one.name.as_str(), one.server.as_str())).collect();
    assert_eq!(known, [("prod", "https://s"), ("test", "https://two")]);
    let open = |name: &str| {
        let cluster = tiphys_model::project_rules::Cluster { server: None, name: Some(name.to_owned()) };
        clusters.open(&cluster).expect("clusters").expect("a cluster").id
    };
    assert_eq!(open("test"), open("https://two"));
}
