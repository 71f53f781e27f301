use crate::access::{RepositoryAccess, RepositoryKind, Secret};

use super::{ArgoCdSecret, SecretAccess, SecretType, parse_bool};

/// A repository Secret with these values.
fn secret(values: &str) -> ArgoCdSecret {
    let text = format!(
        "{{metadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: repository}}}}, stringData: {{{values}}}}}"
    );
    let node = tiphys_yaml::read_document(text.as_bytes()).expect("it is YAML").expect("it is not empty");
    let secret = ArgoCdSecret::decode(&node).expect("it is a Secret");
    assert_eq!(secret.secret_type, SecretType::Repository);
    secret
}

#[test]
fn config_of_a_cluster_is_decoded_as_in_go() {
    for (config, expected) in [
        ("", None),
        ("null", None),
        ("{}", None),
        (
            r#"{"TLSClientConfig": {"insecure": true, "caData": "eA=="}, "unknown": 1, "bearerToken": null}"#,
            None,
        ),
        (r#"{"execProviderConfig": {"args": ["a"], "env": {"A": "b"}, "config": [1]}}"#, None),
        ("{", Some("config: expected JSON")),
        ("{} {}", Some("config: expected JSON")),
        ("[]", Some("config: expected an object, found a list")),
        (
            r#"{"bearerToken": 1}"#,
            Some("config.bearerToken: expected a string, found a number; put it in quotes"),
        ),
        (
            r#"{"disableCompression": "true"}"#,
            Some("config.disableCompression: expected a boolean, found a string"),
        ),
        (
            r#"{"tlsClientConfig": {"certData": "?"}}"#,
            Some("config.tlsClientConfig.certData: expected base64"),
        ),
        (
            r#"{"execProviderConfig": {"args": "a"}}"#,
            Some("config.execProviderConfig.args: expected a list, found a string"),
        ),
    ] {
        let problem = secret(&format!("config: '{config}'")).cluster_config_problem();
        assert_eq!(problem.as_deref(), expected, "{config}");
    }
}

#[test]
fn repository_secret_has_all_connection_settings() {
    let values = "url: 'https://git.example.org/x', name: apps, project: team, type: helm, username: u, password: pw, bearerToken: token, \
                  sshPrivateKey: private, enableOCI: 'true', insecure: 'true', insecureOCIForceHttp: 'true', tlsClientCertData: cert, \
                  tlsClientCertKey: key, proxy: 'http://proxy', noProxy: intern, more: unknown";
    let expected = RepositoryAccess {
        url: "https://git.example.org/x".to_owned(),
        name: "apps".to_owned(),
        project: "team".to_owned(),
        kind: RepositoryKind::Helm,
        username: "u".to_owned(),
        password: Secret::new("pw"),
        bearer_token: Secret::new("token"),
        ssh_private_key: Secret::new("private"),
        enable_oci: true,
        insecure: true,
        insecure_oci_force_http: true,
        ca_data: String::new(),
        tls_client_cert_data: "cert".to_owned(),
        tls_client_cert_key: Secret::new("key"),
        proxy: Secret::new("http://proxy"),
        no_proxy: "intern".to_owned(),
    };
    assert_eq!(
        secret(values).repository_access(),
        Some(SecretAccess { access: expected, invalid_booleans: Vec::new() })
    );
    assert_eq!(secret("username: u").repository_access(), None, "no URL");
    assert_eq!(secret("url: ''").repository_access(), None, "an empty URL");
}

#[test]
fn unknown_repository_type_is_git() {
    for (word, expected) in [
        ("git", RepositoryKind::Git),
        ("", RepositoryKind::Git),
        ("Helm", RepositoryKind::Git),
        ("helm", RepositoryKind::Helm),
        ("oci", RepositoryKind::Oci),
    ] {
        let found = secret(&format!("url: x, type: '{word}'")).repository_access().expect(word);
        assert_eq!(found.access.kind, expected, "{word:?}");
    }
}

#[test]
fn booleans_are_parsed_like_go_and_invalid_ones_are_reported() {
    for (word, expected) in [
        ("T", Some(true)),
        ("1", Some(true)),
        ("TRUE", Some(true)),
        ("t", Some(true)),
        ("True", Some(true)),
        ("true", Some(true)),
        ("F", Some(false)),
        ("0", Some(false)),
        ("False", Some(false)),
        ("", None),
        ("yes", None),
        ("tRUE", None),
        ("true ", None),
    ] {
        let values =
            format!("url: x, insecure: '{word}', enableOCI: '{word}', insecureOCIForceHttp: '{word}'");
        let SecretAccess { access, invalid_booleans } = secret(&values).repository_access().expect(word);
        let found = [access.insecure, access.enable_oci, access.insecure_oci_force_http];
        assert_eq!(found, [expected == Some(true); 3], "{word:?}");
        assert_eq!(invalid_booleans.is_empty(), expected.is_some() || word.is_empty(), "{word:?}");
    }
}

#[test]
fn parse_bool_accepts_the_words_of_go() {
    for text in ["1", "t", "T", "true", "TRUE", "True"] {
        assert_eq!(parse_bool(text), Some(true), "{text}");
    }
    for text in ["0", "f", "F", "false", "FALSE", "False"] {
        assert_eq!(parse_bool(text), Some(false), "{text}");
    }
    for text in ["", "yes", "tRUE", " true", "2"] {
        assert_eq!(parse_bool(text), None, "{text}");
    }
}
