//! Connections to the test server.

use std::time::Duration;

use serde_json::{Value, json};
use tiphys_engine::ServedKind;
use tiphys_kube::cluster_reader::ClusterReader as _;
use tiphys_kube::{CaCertificates, KubeCluster, KubeConnection, KubeIdentity, KubeOptions, Pem};
use tiphys_model::access::Secret;
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer};

/// Options with short pauses.
pub(crate) fn options() -> KubeOptions {
    KubeOptions { pause: Duration::from_millis(2), ..KubeOptions::default() }
}

/// Connection settings of a server with an identity.
pub(crate) fn connection(server: &KubeServer, identity: KubeIdentity) -> KubeConnection {
    KubeConnection {
        name: "test".to_owned(),
        server: server.url(),
        ca: CaCertificates::Own(Pem::Data(Secret::new(server.ca_pem()))),
        tls_server_name: None,
        proxy: None,
        client_certificate: None,
        identity,
    }
}

/// The reader of a server for a token.
pub(crate) fn with_token(server: &KubeServer, token: &str) -> KubeCluster {
    KubeCluster::new(connection(server, KubeIdentity::Token(Secret::new(token))), options())
}

/// The reader of the shared server for the administrator.
pub(crate) fn admin() -> KubeCluster {
    with_token(KubeServer::shared(), ADMIN_TOKEN)
}

/// Returns a kind that a cluster serves.
pub(crate) async fn kind(cluster: &KubeCluster, group: &str, kind: &str) -> ServedKind {
    let kinds = cluster.kinds().await.expect("discovery");
    kinds.find(group, kind, None).expect("a served kind").clone()
}

/// Creates a namespace on the shared server.
pub(crate) fn namespace(name: &str) {
    KubeServer::shared().create("/api/v1/namespaces", &json!({"metadata": {"name": name}}));
}

/// Creates a ConfigMap on the shared server.
pub(crate) fn config_map(namespace: &str, name: &str, data: &Value) -> Value {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    KubeServer::shared().create(&path, &json!({"metadata": {"name": name}, "data": data}))
}

/// Returns an error with its sources.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(error.source(), |source| source.source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}
