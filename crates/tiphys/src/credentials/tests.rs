use tiphys_params::context::{KnownRepositories, RepositoryAccess, RepositoryKind, Secret};
use tiphys_store::{Store, StoreInput};

use super::known_repositories;

/// What a store knows of repositories that has a Secret with these values.
fn known(secret_type: &str, values: &str) -> KnownRepositories {
    let text = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: {secret_type}}}}}\n\
         stringData: {{{values}}}\n"
    );
    let store = Store::load(&[StoreInput::StandardInput(text.into_bytes())]).expect("it is a store");
    known_repositories(&store.secrets().iter().collect::<Vec<_>>())
}

#[test]
fn a_secret_says_all_that_is_known_of_its_repository() {
    let values = "url: 'https://git.example.org/x', name: apps, project: team, type: helm, username: u, password: pw, bearerToken: token, \
                  sshPrivateKey: private, enableOCI: 'true', insecure: 'true', insecureOCIForceHttp: 'true', tlsClientCertData: cert, \
                  tlsClientCertKey: key, proxy: 'http://proxy', noProxy: intern, more: unknown";
    let access = RepositoryAccess {
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
    let nothing = KnownRepositories::default;
    let one = vec![access];
    for (secret_type, expected) in [
        ("repository", KnownRepositories { repositories: one.clone(), ..nothing() }),
        ("repo-creds", KnownRepositories { templates: one, ..nothing() }),
        ("repository-write", nothing()),
        ("repo-write-creds", nothing()),
        ("cluster", nothing()),
    ] {
        assert_eq!(known(secret_type, values), expected, "{secret_type}");
    }
    assert_eq!(known("repository", "username: u"), nothing(), "without a URL it is for none");
    assert_eq!(known("repository", "url: ''"), nothing(), "nor with an empty one");
}

#[test]
fn a_kind_that_argo_cd_does_not_know_is_git() {
    for (word, expected) in [
        ("git", RepositoryKind::Git),
        ("", RepositoryKind::Git),
        ("Helm", RepositoryKind::Git),
        ("helm", RepositoryKind::Helm),
        ("oci", RepositoryKind::Oci),
    ] {
        let known = known("repository", &format!("url: x, type: '{word}'"));
        assert_eq!(known.repositories[0].kind, expected, "{word:?}");
    }
}

#[test]
fn switches_of_a_secret_are_read_as_go_reads_them_and_are_off_where_it_does_not() {
    for (word, expected) in [
        ("T", true),
        ("1", true),
        ("TRUE", true),
        ("t", true),
        ("True", true),
        ("true", true),
        ("F", false),
        ("0", false),
        ("False", false),
        ("", false),
        ("yes", false),
        ("tRUE", false),
        ("true ", false),
    ] {
        let values =
            format!("url: x, insecure: '{word}', enableOCI: '{word}', insecureOCIForceHttp: '{word}'");
        let access = &known("repository", &values).repositories[0];
        let switches = [access.insecure, access.enable_oci, access.insecure_oci_force_http];
        assert_eq!(switches, [expected; 3], "{word:?}");
    }
}
