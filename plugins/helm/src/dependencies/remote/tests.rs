//! Which credentials a dependency's repository gets.

use tiphys_params::context::{RepositoryAccess, RepositoryKind, Secret};

use super::{Known, KnownRepository, Login, PemFiles, Place, RemoteKind};
use crate::dependencies::DependencyError;
use crate::options::Credentials;

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

fn oci(url: &str, username: &str) -> RepositoryAccess {
    RepositoryAccess { kind: RepositoryKind::Oci, ..access(url, "", username) }
}

fn known(repositories: Vec<RepositoryAccess>, templates: Vec<RepositoryAccess>) -> Known {
    let known =
        |access| KnownRepository { access, credentials: Credentials::OwnHost, files: PemFiles::default() };
    Known { repositories: repositories.into_iter().map(known).collect(), templates, ..Known::default() }
}

/// The address and the user for a dependency's repository.
fn found(known: &Known, repository: &str) -> (String, String) {
    let remotes = known.remotes([repository], Credentials::OwnHost).unwrap();
    let [remote] = remotes.as_slice() else { panic!("{remotes:?}") };
    (remote.address.expose().to_owned(), remote.access.username.clone())
}

#[test]
fn the_field_repository_is_read_as_helm_reads_it() {
    let cases = [
        ("", Place::Vendored),
        ("file://../dep", Place::Folder("../dep")),
        ("@known", Place::Named("known")),
        ("alias:known", Place::Named("known")),
        ("https://a.example.com/x", Place::Web("https://a.example.com/x")),
        ("http://a.example.com/x", Place::Web("http://a.example.com/x")),
        ("oci://r.example.com/charts", Place::Registry("r.example.com/charts")),
        ("OCI://r.example.com/charts", Place::Registry("r.example.com/charts")),
        ("HTTP://a.example.com/x", Place::Web("HTTP://a.example.com/x")),
        ("s3://bucket/x", Place::Plugin("s3://bucket/x")),
        ("git+https://a.example.com/x", Place::Plugin("git+https://a.example.com/x")),
        ("http:a.example.com", Place::Plugin("http:a.example.com")),
        ("FILE://../dep", Place::Plugin("FILE://../dep")),
        ("stable", Place::Other),
        ("//a.example.com/x", Place::Other),
        ("1a:x", Place::Other),
    ];
    for (repository, expected) in cases {
        assert_eq!(Place::of(repository), expected, "{repository}");
    }
}

#[test]
fn an_address_is_looked_up_with_its_scheme_in_small_letters() {
    let known = known(vec![access("https://a.example.com/X", "", "u")], Vec::new());
    let expected = ("https://a.example.com/X".to_owned(), "u".to_owned());
    assert_eq!(found(&known, "HTTPS://a.example.com/X"), expected);
    assert_eq!(found(&known, "S3://Bucket"), ("s3://Bucket".to_owned(), String::new()));
}

#[test]
fn the_exact_address_wins_over_templates_and_the_longest_template_over_others() {
    let known = known(
        vec![access("https://a.example.com/x", "", "exact")],
        vec![
            access("https://a.example.com", "", "host"),
            access("https://a.example.com/y", "", "path"),
            access("https://b.example", "", "no host of anybody"),
        ],
    );
    let cases = [
        ("https://a.example.com/x", "exact"),
        ("https://a.example.com/x/", "exact"),
        ("https://a.example.com/y/z", "path"),
        ("https://a.example.com/other", "host"),
        ("https://a.example.com.evil.org/x", ""),
        ("https://a.example.com:8443/x", ""),
        ("https://b.example.com/x", ""),
    ];
    for (repository, username) in cases {
        assert_eq!(found(&known, repository).1, username, "{repository}");
    }
}

#[test]
fn a_registry_gets_what_is_known_of_a_part_of_it_or_of_a_whole_that_it_is_part_of() {
    let cases = [
        (registry("r.example.com/charts", "u"), "oci://r.example.com/charts", "u"),
        (registry("r.example.com", "u"), "oci://r.example.com/charts", "u"),
        (registry("r.example.com/charts/deep", "u"), "oci://r.example.com/charts", "u"),
        (oci("oci://r.example.com/charts", "u"), "oci://r.example.com/charts", "u"),
        (oci("oci://r.example.com/charts/app", "u"), "oci://r.example.com/charts", "u"),
        (registry("r.example.com", "u"), "oci://r.example.com.evil.org/charts", ""),
        (registry("r.example.com/other", "u"), "oci://r.example.com/charts", ""),
        (access("r.example.com/charts/x", "", "u"), "oci://r.example.com/charts", ""),
    ];
    for (repository, dependency, username) in cases {
        let known = known(vec![repository], Vec::new());
        assert_eq!(found(&known, dependency).1, username, "{dependency}");
    }
}

#[test]
fn a_template_of_a_registry_is_written_with_the_scheme_only_where_argo_cd_takes_it_away() {
    for (template, username) in [
        (registry("r.example.com/charts", "u"), "u"),
        (registry("oci://r.example.com/charts", "u"), ""),
        (oci("oci://r.example.com/charts", "u"), "u"),
    ] {
        let known = known(Vec::new(), vec![template]);
        assert_eq!(found(&known, "oci://r.example.com/charts/app").1, username);
    }
}

#[test]
fn a_name_is_a_helm_repository_s_and_one_only() {
    let git = RepositoryAccess { kind: RepositoryKind::Git, ..access("https://git.example.com", "name", "") };
    let one = known(vec![git.clone(), access("https://a.example.com", "name", "u")], Vec::new());
    assert_eq!(found(&one, "@name"), ("https://a.example.com".to_owned(), "u".to_owned()));
    assert_eq!(found(&one, "alias:name").0, "https://a.example.com");

    let error = |repositories, repository| {
        let known = known(repositories, Vec::new());
        known.remotes([repository], Credentials::OwnHost).unwrap_err()
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
fn what_is_known_first_wins() {
    let mut first = known(vec![access("https://a.example.com", "name", "first")], Vec::new());
    first.fill_in(known(
        vec![
            access("https://a.example.com", "", "second"),
            access("https://b.example.com", "name", "second"),
            access("https://c.example.com", "other", "second"),
        ],
        vec![access("https://d.example.com", "", "second")],
    ));
    let cases = [
        ("https://a.example.com", "first"),
        ("@name", "first"),
        ("https://b.example.com", "second"),
        ("@other", "second"),
        ("https://d.example.com/x", "second"),
    ];
    for (repository, username) in cases {
        assert_eq!(found(&first, repository).1, username, "{repository}");
    }
}

#[test]
fn places_are_fetched_from_once_each_and_in_order() {
    let known = known(vec![access("https://a.example.com", "name", "u")], Vec::new());
    let repositories = [
        "oci://r.example.com/x",
        "https://a.example.com/",
        "",
        "@name",
        "file://../dep",
        "https://b.example.com",
        "oci://r.example.com/x",
    ];
    let remotes = known.remotes(repositories, Credentials::AllHosts).unwrap();
    let seen: Vec<_> =
        remotes.iter().map(|one| (one.kind, one.address.expose(), one.name.as_str())).collect();
    assert_eq!(
        seen,
        [
            (RemoteKind::Registry, "r.example.com/x", ""),
            (RemoteKind::Web, "https://a.example.com/", "name"),
            (RemoteKind::Web, "https://b.example.com", ""),
        ]
    );
    assert!(remotes.iter().all(|one| one.credentials == Credentials::AllHosts));
}

#[test]
fn a_registry_without_a_password_gets_the_login_of_its_host() {
    let mut known = known(vec![registry("with.example.com", "u")], Vec::new());
    known.repositories[0].access.password = Secret::new("p");
    let names = ["with.example.com", "entry.example.com", "https://index.docker.io/v1/"];
    known.logins = names.map(|name| (name.to_owned(), Secret::new(name))).into();
    known.helpers = [("helped.example.com".to_owned(), "ecr-login".to_owned())].into();
    let login = |known: &Known, repository: &str| {
        known.remotes([repository], Credentials::OwnHost).unwrap().remove(0).login
    };
    let entry = |name: &str| Login::Entry(Secret::new(name));
    for (repository, expected) in [
        ("oci://with.example.com/charts", Login::None),
        ("oci://entry.example.com/charts", entry("entry.example.com")),
        ("oci://docker.io/charts", entry("https://index.docker.io/v1/")),
        ("oci://helped.example.com/charts", Login::Helper("ecr-login".to_owned())),
        ("oci://other.example.com/charts", Login::None),
        ("https://entry.example.com/charts", Login::None),
    ] {
        assert_eq!(login(&known, repository), expected, "{repository}");
    }
    known.helper = Some("pass".to_owned());
    assert_eq!(login(&known, "oci://other.example.com/charts"), Login::Helper("pass".to_owned()));
    assert_eq!(login(&known, "oci://helped.example.com/x"), Login::Helper("ecr-login".to_owned()));
}
