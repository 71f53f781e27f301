//! Patterns and the repositories of dependencies.

use serde_json::Value;
use tiphys_model::access::{CredentialReach, LoginOwner, PemFiles, RegistryLogin, RepoUrl, RepositoryAccess};
use tiphys_testkit::oracle::{self, Difference};

use super::is_permitted;
use crate::dependencies::remote::{RemoteKind, RemoteRepository};

fn remote(kind: RemoteKind, address: &str) -> RemoteRepository {
    RemoteRepository {
        kind,
        address: RepoUrl::new(address),
        access: RepositoryAccess::default(),
        credentials: CredentialReach::OwnServer,
        owner: LoginOwner::Settings,
        login: RegistryLogin::None,
        files: PemFiles::default(),
    }
}

#[test]
fn addresses_are_normalized_before_comparison() {
    let repository = remote(RemoteKind::Web, "https://a.example.com/X.git");
    let cases = [
        ("https://A.example.com/x", true),
        (" https://a.example.com/x.git ", true),
        ("https://a.example.com/*", true),
        ("!https://A.example.com/x.git", false),
        ("https://a.example.com/x.git.git", false),
        ("https://a.example.com/{x,y}", false),
    ];
    for (pattern, expected) in cases {
        assert_eq!(is_permitted(&repository, &[pattern.to_owned()]), expected, "{pattern}");
    }
}

#[test]
fn registry_is_permitted_with_and_without_its_scheme() {
    let registry = remote(RemoteKind::Registry, "r.example.com:5000/charts");
    for pattern in ["r.example.com:5000/*", "oci://r.example.com:5000/charts"] {
        assert!(is_permitted(&registry, &[pattern.to_owned()]), "{pattern}");
        assert!(!is_permitted(&registry, &["*".to_owned(), format!("!{pattern}")]), "{pattern}");
    }
}

/// Go rejects a URL that is an IP address with a port.
#[test]
fn invalid_urls_are_compared_as_written() {
    let registry = remote(RemoteKind::Registry, "127.0.0.1:5000/charts");
    for (pattern, expected) in [("127.0.0.1:5000/*", true), ("127.0.0.2:5000/*", false), ("%zz", false)] {
        assert_eq!(is_permitted(&registry, &[pattern.to_owned()]), expected, "{pattern}");
    }
}

#[test]
fn permissions_equal_those_of_argo_cd() {
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    oracle::check("project-destinations.source", |case| {
        if case["check"] != "source" {
            return None;
        }
        let patterns = texts(&case["project"]["sourceRepos"]);
        let repository = remote(RemoteKind::Web, case["repo_url"].as_str().unwrap_or_default());
        let (ours, recorded) = (is_permitted(&repository, &patterns), case["permitted"] == true);
        Some((ours == recorded).then_some(()).ok_or_else(|| Difference::new(ours, recorded)))
    });
}
