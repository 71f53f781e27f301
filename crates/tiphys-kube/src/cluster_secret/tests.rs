use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tiphys_model::access::Secret;
use tiphys_model::resources::ArgoCdSecret;
use tiphys_yaml::read_json;

use super::ClusterSecretError;
use crate::{CaCertificates, ClientCertificate, KubeConnection, KubeIdentity, Pem};

fn secret(data: &Value) -> ArgoCdSecret {
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "labels": {"argocd.argoproj.io/secret-type": "cluster"}},
        "stringData": data
    });
    ArgoCdSecret::decode(&read_json(secret.to_string().as_bytes()).unwrap()).unwrap()
}

fn decode(config: &Value) -> Result<KubeConnection, ClusterSecretError> {
    KubeConnection::of_secret(&secret(&json!({"config": config.to_string()})), "prod", "https://k:6443")
}

#[test]
fn each_way_of_authentication_is_read() {
    let data = STANDARD.encode("-----BEGIN X-----");
    let pem = || Pem::Data(Secret::new("-----BEGIN X-----"));
    let plain = KubeConnection {
        name: "prod".to_owned(),
        server: "https://k:6443".to_owned(),
        ca: CaCertificates::System,
        tls_server_name: None,
        proxy: None,
        client_certificate: None,
        identity: KubeIdentity::Anonymous,
    };
    let cases = [
        (json!({}), plain.clone()),
        (
            json!({"bearerToken": "t", "tlsClientConfig": {"insecure": true}, "proxyUrl": "http://p:1"}),
            KubeConnection {
                ca: CaCertificates::Unchecked,
                proxy: Some(Secret::new("http://p:1")),
                identity: KubeIdentity::Token(Secret::new("t")),
                ..plain.clone()
            },
        ),
        (
            json!({"username": "u", "password": "p", "tlsClientConfig": {"serverName": "k.example.com", "caData": data}}),
            KubeConnection {
                ca: CaCertificates::Own(pem()),
                tls_server_name: Some("k.example.com".to_owned()),
                identity: KubeIdentity::Basic { username: "u".to_owned(), password: Secret::new("p") },
                ..plain.clone()
            },
        ),
        (
            json!({"tlsClientConfig": {"certData": data, "keyData": data, "insecure": false}}),
            KubeConnection {
                client_certificate: Some(ClientCertificate { certificate: pem(), key: pem() }),
                ..plain
            },
        ),
    ];
    for (config, expected) in cases {
        assert_eq!(decode(&config).as_ref(), Ok(&expected), "{config}");
    }
}

#[test]
fn name_defaults_to_the_server() {
    let found = KubeConnection::of_secret(&secret(&json!({})), "", "https://k").expect("a connection");
    assert_eq!((found.name.as_str(), found.server.as_str()), ("https://k", "https://k"));
}

#[test]
fn unusable_secret_is_reported_without_values() {
    let kubeconfig = "put this cluster into a kubeconfig";
    let cases = [
        (
            json!({"execProviderConfig": {"command": "hunter2"}}),
            format!("Secret s: config.execProviderConfig is not supported; {kubeconfig}"),
        ),
        (
            json!({"awsAuthConfig": {"clusterName": "hunter2"}}),
            format!("Secret s: config.awsAuthConfig is not supported; {kubeconfig}"),
        ),
        (
            json!({"bearerToken": "hunter2", "username": "u"}),
            "Secret s: config: has both username and bearerToken; remove one".to_owned(),
        ),
        (
            json!({"tlsClientConfig": {"caData": "hunter2"}}),
            "Secret s: config.tlsClientConfig.caData: expected base64".to_owned(),
        ),
        (
            json!({"tlsClientConfig": {"certData": STANDARD.encode("-----BEGIN X-----")}}),
            "Secret s: config.tlsClientConfig: has only one of certData and keyData; add the other"
                .to_owned(),
        ),
        (
            json!({"tlsClientConfig": {"insecure": true, "caData": STANDARD.encode("-----BEGIN X-----")}}),
            "Secret s: config.tlsClientConfig: has both insecure and caData; remove one".to_owned(),
        ),
        (json!({"bearerToken": 1}), "Secret s: config is invalid".to_owned()),
    ];
    for (config, expected) in cases {
        assert_eq!(decode(&config).expect_err(&expected).to_string(), expected);
    }
    let error = |data: Value, server: &str| {
        KubeConnection::of_secret(&secret(&data), "k", server).expect_err("an invalid Secret").to_string()
    };
    assert_eq!(error(json!({"config": "{hunter2"}), "https://k"), "Secret s: config: expected JSON");
    assert_eq!(error(json!({}), ""), "Secret s: server: missing; it must be the URL of the API server");
}
