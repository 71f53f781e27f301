//! Trusted CA certificates, `insecure` and client certificates.

use tiphys_http::{CredentialScope, HttpClient, HttpError};
use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_testkit::canned_server::CannedServer;
use tiphys_testkit::certificates::{Authority, Identity};
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::{LONG, client, get, origin};

/// Part of the message for other servers.
const HINT: &str = "apply to its own server only; set passCredentials: true in the Application's helm block";

fn trusting(authority: &Authority) -> RepositoryAccess {
    RepositoryAccess { ca_data: authority.pem().to_owned(), ..RepositoryAccess::default() }
}

fn with_client_certificate(mut access: RepositoryAccess, client: &Identity) -> RepositoryAccess {
    access.tls_client_cert_data.clone_from(&client.certificate_pem);
    access.tls_client_cert_key = Secret::new(client.key_pem.clone());
    access
}

fn insecure() -> RepositoryAccess {
    RepositoryAccess { insecure: true, ..RepositoryAccess::default() }
}

/// The TLS error of a request.
async fn tls_error(client: &HttpClient, server: &ChartServer) -> String {
    match get(client, &server.url()).await {
        Err(HttpError::Tls(text)) => text,
        other => panic!("expected a TLS error, found {other:?}"),
    }
}

#[tokio::test]
async fn server_needs_a_trusted_certificate_unless_insecure() {
    let (authority, others) = (Authority::new(), Authority::new());
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    for access in [trusting(&authority), insecure()] {
        get(&client(&access, &server.url()).await, &server.url()).await.expect("a response");
    }
    server.forget();
    for access in [trusting(&others), RepositoryAccess::default()] {
        let text = tls_error(&client(&access, &server.url()).await, &server).await;
        assert!(text.starts_with("invalid peer certificate: "), "{text}");
    }
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn certificate_must_be_for_the_host() {
    let authority = Authority::new();
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    let proxy = CannedServer::tunnel(&server.host());
    let access = RepositoryAccess { proxy: Secret::new(proxy.host()), ..trusting(&authority) };
    let text = "https://charts.example.invalid";
    let error = get(&client(&access, text).await, text).await.expect_err("the certificate is for 127.0.0.1");
    let text = error.to_string();
    assert!(text.starts_with("TLS: invalid peer certificate: certificate not valid for name"), "{text}");
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn environment_replaces_the_system_certificates() {
    let authority = Authority::new();
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, format!("no PEM\n{}", authority.pem())).expect("a file can be written");
    let (file, dir) = (file.display().to_string(), dir.path().display().to_string());
    let nowhere = "/nonexistent".to_owned();
    for (variables, is_trusted) in [
        (vec![("SSL_CERT_FILE", &file)], true),
        (vec![("SSL_CERT_DIR", &dir)], true),
        (vec![("SSL_CERT_FILE", &nowhere), ("SSL_CERT_DIR", &dir)], true),
        (vec![("SSL_CERT_FILE", &nowhere)], false),
        (vec![("SSL_CERT_DIR", &nowhere)], false),
    ] {
        let environment = |name: &str| {
            let found = variables.iter().find(|(found, _)| *found == name);
            found.map(|(_, value)| (*value).clone())
        };
        let access = RepositoryAccess::default();
        let client = HttpClient::new(&access, origin(&server.url()), LONG, &environment);
        let found = get(&client.await.expect("valid settings"), &server.url()).await;
        assert_eq!(found.is_ok(), is_trusted, "{variables:?}: {found:?}");
        // The repository's own certificates replace those of the environment.
        let access = trusting(&Authority::new());
        let client = HttpClient::new(&access, origin(&server.url()), LONG, &environment);
        let found = get(&client.await.expect("valid settings"), &server.url()).await;
        assert!(matches!(found, Err(HttpError::Tls(_))), "{found:?}");
    }
}

#[tokio::test]
async fn insecure_applies_to_the_own_server_only() {
    let authority = Authority::new();
    let identity = authority.server();
    let (own, other) =
        (ChartServer::start(Transport::Tls(&identity)), ChartServer::start(Transport::Tls(&identity)));
    let client = client(&insecure(), &own.url()).await;
    get(&client, &own.url()).await.expect("a response");
    let text = tls_error(&client, &other).await;
    assert!(text.starts_with("invalid peer certificate: ") && text.contains(HINT), "{text}");
    assert_eq!(other.requests(), []);
    let client = HttpClient::new(&insecure(), CredentialScope::AllServers, LONG, &|_| None).await;
    get(&client.expect("valid settings"), &other.url()).await.expect("a response");
}

#[tokio::test]
async fn client_certificate_is_for_the_own_server_only() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (identity, certificate) = (authority.server(), clients.client());
    let [own, other] = [(); 2].map(|()| ChartServer::start(Transport::MutualTls(&identity, &clients)));
    let access = with_client_certificate(trusting(&authority), &certificate);
    let client = client(&access, &own.url()).await;
    get(&client, &own.url()).await.expect("a response");
    let text = tls_error(&client, &other).await;
    assert!(text.contains("CertificateRequired") && text.contains(HINT), "{text}");
    assert_eq!(other.requests(), []);
    let client = HttpClient::new(&access, CredentialScope::AllServers, LONG, &|_| None).await;
    get(&client.expect("valid settings"), &other.url()).await.expect("a response");
}

#[tokio::test]
async fn ca_certificates_apply_to_all_servers() {
    let authority = Authority::new();
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    let client = client(&trusting(&authority), "https://other.example.org").await;
    get(&client, &server.url()).await.expect("a response");
}

#[tokio::test]
async fn unusable_certificates_are_rejected() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (one, other) = (clients.client(), clients.client());
    let with_key = |key: &str| {
        let mut access = with_client_certificate(trusting(&authority), &one);
        access.tls_client_cert_key = Secret::new(key);
        access
    };
    let no_certificate = |mut access: RepositoryAccess| {
        "hush".clone_into(&mut access.tls_client_cert_data);
        access
    };
    let no_ca = RepositoryAccess { ca_data: "hush".to_owned(), ..RepositoryAccess::default() };
    for (access, expected) in [
        (no_ca, "its CA certificate (PEM) holds no certificate"),
        (with_key("hush"), "its tlsClientCertKey (PEM) holds no private key"),
        (no_certificate(with_key(&one.key_pem)), "its tlsClientCertData (PEM) holds no certificate"),
        (with_key(&other.key_pem), "its tlsClientCertData and tlsClientCertKey (PEM) cannot be used: "),
    ] {
        let error = HttpClient::new(&access, CredentialScope::AllServers, LONG, &|_| None).await;
        let text = error.expect_err("they are unusable").to_string();
        assert!(text.starts_with(expected) && !text.contains("hush"), "{text}");
    }
    // Without a key there is no client certificate.
    assert!(HttpClient::new(&with_key(""), CredentialScope::AllServers, LONG, &|_| None).await.is_ok());
}
