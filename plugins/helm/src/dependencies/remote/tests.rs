//! The field `repository` of a dependency.

use tiphys_model::access::{CredentialReach, KnownRepositories, RepositoryAccess, RepositoryKind};

use super::{DependencyRepository, ProjectRepositories, RemoteKind, RemoteRepository};
use crate::dependencies::DependencyError;

fn access(url: &str, name: &str, username: &str) -> RepositoryAccess {
    RepositoryAccess {
        url: url.to_owned(),
        name: name.to_owned(),
        kind: RepositoryKind::Helm,
        username: username.to_owned(),
        ..RepositoryAccess::default()
    }
}

fn registry(url: &str, username: &str) -> RepositoryAccess {
    RepositoryAccess { enable_oci: true, ..access(url, "", username) }
}

fn known(repositories: Vec<RepositoryAccess>) -> ProjectRepositories {
    let repositories = KnownRepositories { repositories, ..KnownRepositories::default() };
    ProjectRepositories { project: "default".to_owned(), repositories }
}

/// The address and the user for a dependency's repository.
fn found(known: &ProjectRepositories, repository: &str) -> (String, String) {
    let remote = known.remote(repository, CredentialReach::OwnServer).unwrap();
    (remote.address.expose().to_owned(), remote.access.username.clone())
}

#[test]
fn repository_field_is_read_as_helm_does() {
    let cases = [
        ("", DependencyRepository::Vendored),
        ("file://../dep", DependencyRepository::Folder("../dep")),
        ("@known", DependencyRepository::Named("known")),
        ("alias:known", DependencyRepository::Named("known")),
        ("https://a.example.com/x", DependencyRepository::Web("https://a.example.com/x")),
        ("http://a.example.com/x", DependencyRepository::Web("http://a.example.com/x")),
        ("oci://r.example.com/charts", DependencyRepository::Registry("r.example.com/charts")),
        ("OCI://r.example.com/charts", DependencyRepository::Registry("r.example.com/charts")),
        ("HTTP://a.example.com/x", DependencyRepository::Web("HTTP://a.example.com/x")),
        ("s3://bucket/x", DependencyRepository::Plugin("s3://bucket/x")),
        ("git+https://a.example.com/x", DependencyRepository::Plugin("git+https://a.example.com/x")),
        ("http:a.example.com", DependencyRepository::Plugin("http:a.example.com")),
        ("FILE://../dep", DependencyRepository::Plugin("FILE://../dep")),
        ("stable", DependencyRepository::Other),
        ("//a.example.com/x", DependencyRepository::Other),
        ("1a:x", DependencyRepository::Other),
    ];
    for (repository, expected) in cases {
        assert_eq!(DependencyRepository::of(repository), expected, "{repository}");
    }
}

#[test]
fn scheme_is_lower_case_in_look_ups() {
    let known = known(vec![access("https://a.example.com/X", "", "u")]);
    let expected = ("https://a.example.com/X".to_owned(), "u".to_owned());
    assert_eq!(found(&known, "HTTPS://a.example.com/X"), expected);
    assert_eq!(RemoteRepository::of_plugin("S3://Bucket").address.expose(), "s3://Bucket");
}

#[test]
fn name_must_be_of_exactly_one_helm_repository() {
    let git = RepositoryAccess { kind: RepositoryKind::Git, ..access("https://git.example.com", "name", "") };
    let one = known(vec![git.clone(), access("https://a.example.com", "name", "u")]);
    assert_eq!(found(&one, "@name"), ("https://a.example.com".to_owned(), "u".to_owned()));
    assert_eq!(found(&one, "alias:name").0, "https://a.example.com");

    let error = |repositories, repository| {
        let known = known(repositories);
        known.remote(repository, CredentialReach::OwnServer).unwrap_err()
    };
    assert!(matches!(error(vec![git], "@name"), DependencyError::UnknownName { .. }));
    assert!(matches!(
        error(vec![access("https://a.example.com", "", "")], "@"),
        DependencyError::UnknownName { .. }
    ));
    let two = vec![access("https://a.example.com", "name", ""), access("https://b.example.com", "name", "")];
    assert!(matches!(error(two, "@name"), DependencyError::AmbiguousName { .. }));
    let named = RepositoryAccess { name: "name".to_owned(), ..registry("oci://r.example.com/x", "") };
    let error = error(vec![named], "@name");
    assert!(
        matches!(&error, DependencyError::NamedRegistry { address, .. } if address.expose() == "r.example.com/x")
    );
}

#[test]
fn repository_has_its_kind_and_the_servers_that_get_credentials() {
    let known = known(vec![access("https://a.example.com", "name", "u")]);
    for (repository, kind, address) in [
        ("oci://r.example.com/x", RemoteKind::Registry, "r.example.com/x"),
        ("https://a.example.com/", RemoteKind::Web, "https://a.example.com/"),
        ("@name", RemoteKind::Web, "https://a.example.com"),
    ] {
        for reach in [CredentialReach::OwnServer, CredentialReach::EveryServer] {
            let remote = known.remote(repository, reach).unwrap();
            assert_eq!((remote.kind, remote.address.expose(), remote.credentials), (kind, address, reach));
        }
    }
}
