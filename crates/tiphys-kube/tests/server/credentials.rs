//! Each way of authentication.

use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;
use tiphys_kube::cluster_reader::{ClusterErrorKind, ClusterReader as _};
use tiphys_kube::{
    CaCertificates, ClientCertificate, ExecPlugin, KubeCluster, KubeConnection, KubeIdentity, KubeOptions,
    Kubeconfig, Pem,
};
use tiphys_model::access::Secret;
use tiphys_model::limits::Limit;
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer};

use crate::support::{chain, connection, options, with_token};

async fn can_discover(connection: KubeConnection) -> Result<(), ClusterErrorKind> {
    KubeCluster::new(connection, options()).kinds().await.map(drop).map_err(|error| error.kind)
}

#[tokio::test]
async fn expired_token_is_unauthorized() {
    let error = with_token(KubeServer::shared(), "expired-hunter2").kinds().await.expect_err("no access");
    assert_eq!(error.kind, ClusterErrorKind::Unauthorized);
    assert_eq!(
        chain(&error),
        "cluster test: cannot list its kinds: the server refused the credentials; renew them: HTTP status 401"
    );
}

#[tokio::test]
async fn token_with_a_line_break_is_rejected() {
    let error =
        with_token(KubeServer::shared(), "hunter2\nX: y").kinds().await.expect_err("an invalid token");
    assert_eq!(error.kind, ClusterErrorKind::Settings);
    let message = chain(&error);
    assert!(message.contains("the token has a character") && !message.contains("hunter2"), "{message}");
}

#[tokio::test]
async fn kubeconfig_connects() {
    let server = KubeServer::shared();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), server.ca_pem()).unwrap();
    fs::write(folder.path().join("token"), ADMIN_TOKEN).unwrap();
    let config = json!({
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": server.url(), "certificate-authority": "ca.pem"}}],
        "users": [{"name": "u", "user": {"tokenFile": "token"}}]
    });
    let path = folder.path().join("config");
    fs::write(&path, config.to_string()).unwrap();
    let connection = Kubeconfig::load(&[path]).unwrap().connection(None).unwrap();
    assert_eq!(can_discover(connection).await, Ok(()));
}

#[tokio::test]
async fn renewed_token_file_is_read_again() {
    let server = KubeServer::shared();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "expired").unwrap();
    let cluster = KubeCluster::new(connection(server, KubeIdentity::TokenFile(file.clone())), options());
    let error = cluster.kinds().await.expect_err("an expired token");
    assert_eq!(error.kind, ClusterErrorKind::Unauthorized);
    fs::write(&file, format!("{ADMIN_TOKEN}\n")).unwrap();
    cluster.forget_failures();
    cluster.kinds().await.expect("the new token");
    fs::remove_file(&file).unwrap();
    cluster.version().await.expect("the token is cached");
    let missing = KubeCluster::new(connection(server, KubeIdentity::TokenFile(file)), options());
    let error = missing.kinds().await.expect_err("no file");
    assert_eq!(error.kind, ClusterErrorKind::Settings);
}

#[tokio::test]
async fn slow_token_file_does_not_block_other_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    mkfifoat(CWD, &file, Mode::RUSR | Mode::WUSR).unwrap();
    let (sender, receiver) = mpsc::channel();
    let pipe = file.clone();
    // The token is written when another task has run. Without that, it is written after the time limit, so that the test ends.
    let writer = thread::spawn(move || {
        let has_run = receiver.recv_timeout(Duration::from_secs(5)).is_ok();
        fs::write(pipe, ADMIN_TOKEN).unwrap();
        has_run
    });
    let connection = connection(KubeServer::shared(), KubeIdentity::TokenFile(file));
    let (connected, sent) = tokio::join!(can_discover(connection), async { sender.send(()) });
    assert_eq!(connected, Ok(()));
    assert!(writer.join().unwrap() && sent.is_ok());
}

#[tokio::test]
async fn credential_plugin_is_called_again_for_refused_credentials() {
    let server = KubeServer::shared();
    let folder = tempfile::tempdir().unwrap();
    // The first token is expired.
    let script = format!(
        r#"cd '{}'; if [ -e called ]; then token={ADMIN_TOKEN}; else token=expired; : > called; fi
printf '{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{{"token":"%s"}}}}' $token"#,
        folder.path().display()
    );
    let plugin = ExecPlugin {
        command: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script],
        env: Vec::new(),
        api_version: "client.authentication.k8s.io/v1".to_owned(),
    };
    assert_eq!(can_discover(connection(server, KubeIdentity::Exec(plugin.clone()))).await, Ok(()));
    let failing = ExecPlugin { args: vec!["-c".to_owned(), "exit 1".to_owned()], ..plugin };
    let failed = can_discover(connection(server, KubeIdentity::Exec(failing))).await;
    assert_eq!(failed, Err(ClusterErrorKind::Settings));
}

#[tokio::test]
async fn plugin_has_its_own_time_limit() {
    let plugin = ExecPlugin {
        command: "/bin/sleep".into(),
        args: vec!["1000".to_owned()],
        env: Vec::new(),
        api_version: "client.authentication.k8s.io/v1".to_owned(),
    };
    for request_timeout in [100, 400].map(Duration::from_millis) {
        let options = KubeOptions { request_timeout, exec_timeout: Duration::from_millis(400), ..options() };
        let connection = connection(KubeServer::shared(), KubeIdentity::Exec(plugin.clone()));
        let error = KubeCluster::new(connection, options).kinds().await.expect_err("a hanging plugin");
        assert_eq!(error.kind, ClusterErrorKind::Settings);
        assert_eq!(Limit::of(&error), Some(Limit::KUBE_EXEC_TIMEOUT), "{}", chain(&error));
    }
}

#[tokio::test]
async fn client_certificate_is_sent() {
    let server = KubeServer::shared();
    let identity = server.client_certificate();
    let pem = |pem: &str| Pem::Data(Secret::new(pem));
    let own = ClientCertificate { certificate: pem(&identity.certificate_pem), key: pem(&identity.key_pem) };
    let with =
        KubeConnection { client_certificate: Some(own), ..connection(server, KubeIdentity::Anonymous) };
    // Every authenticated user may ask for the kinds, and anonymous ones may not.
    assert_eq!(can_discover(with).await, Ok(()));
    let without = connection(server, KubeIdentity::Anonymous);
    assert_eq!(can_discover(without).await, Err(ClusterErrorKind::Forbidden));
}

#[tokio::test]
async fn server_must_have_a_trusted_certificate() {
    let server = KubeServer::shared();
    let connection = |ca| {
        let identity = KubeIdentity::Token(Secret::new(ADMIN_TOKEN));
        KubeConnection { ca, ..connection(server, identity) }
    };
    let other = tiphys_testkit::certificates::Authority::new();
    let cases = [
        (CaCertificates::Own(Pem::Data(Secret::new(other.pem()))), Err(ClusterErrorKind::Unreachable)),
        (CaCertificates::System, Err(ClusterErrorKind::Unreachable)),
        (CaCertificates::Own(Pem::Data(Secret::new("none"))), Err(ClusterErrorKind::Unreachable)),
        (CaCertificates::Unchecked, Ok(())),
    ];
    for (ca, expected) in cases {
        assert_eq!(can_discover(connection(ca.clone())).await, expected, "{ca:?}");
    }
    let named = |name: &str| KubeConnection {
        tls_server_name: Some(name.to_owned()),
        ..connection(CaCertificates::Own(Pem::Data(Secret::new(server.ca_pem()))))
    };
    assert_eq!(can_discover(named("localhost")).await, Ok(()));
    assert_eq!(can_discover(named("example.com")).await, Err(ClusterErrorKind::Unreachable));
}
