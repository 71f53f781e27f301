use tiphys_model::access::{CredentialReach, RepositoryAccess, RepositoryKind, Secret};

use crate::ChartSource;

/// A change of a source, with a name for it.
type Change = (&'static str, fn(&mut ChartSource));

fn source() -> ChartSource {
    ChartSource {
        repo_url: "https://charts.example.org/stable".to_owned(),
        chart: "web".to_owned(),
        target_revision: "1.0.0".to_owned(),
        access: RepositoryAccess::default(),
        credentials: CredentialReach::OwnServer,
        own_logins: None,
    }
}

#[test]
fn whatever_decides_what_is_fetched_from_whom_and_with_which_trust_makes_another_identity() {
    let changes: [Change; 13] = [
        ("nothing", |_| {}),
        ("username", |source| source.access.username = "u".to_owned()),
        ("password", |source| source.access.password = Secret::new("u")),
        ("login in the URL", |source| source.repo_url = "https://u:p@charts.example.org/stable".to_owned()),
        ("passCredentials", |source| source.credentials = CredentialReach::EveryServer),
        ("enableOCI", |source| source.access.enable_oci = true),
        ("insecureOCIForceHttp", |source| {
            source.access.enable_oci = true;
            source.access.insecure_oci_force_http = true;
        }),
        ("insecure", |source| source.access.insecure = true),
        ("caData", |source| source.access.ca_data = "u".to_owned()),
        ("tlsClientCertData", |source| source.access.tls_client_cert_data = "u".to_owned()),
        ("tlsClientCertKey", |source| source.access.tls_client_cert_key = Secret::new("u")),
        ("proxy", |source| source.access.proxy = Secret::new("u")),
        ("noProxy", |source| source.access.no_proxy = "u".to_owned()),
    ];
    let identities = changes.map(|(name, change)| {
        let mut source = source();
        change(&mut source);
        (name, source.identity())
    });
    for (at, (name, identity)) in identities.iter().enumerate() {
        for (other, same) in &identities[..at] {
            assert_ne!(identity, same, "{name} and {other}");
        }
    }
}

#[test]
fn what_a_secret_says_beside_that_makes_none() {
    let changes: [Change; 4] = [
        ("url", |source| source.access.url = "https://charts.example.org/Stable/".to_owned()),
        ("name", |source| source.access.name = "stable".to_owned()),
        ("project", |source| source.access.project = "team".to_owned()),
        ("type", |source| source.access.kind = RepositoryKind::Helm),
    ];
    for (name, change) in changes {
        let mut changed = source();
        change(&mut changed);
        assert_eq!(changed.identity(), source().identity(), "{name}");
    }
}
