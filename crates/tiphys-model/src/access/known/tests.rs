use std::collections::BTreeMap;

use super::{FoundAccess, KnownRepositories, RegistryLogin, RepositoryUse};
use crate::access::{
    CredentialReach, MountedRepository, PemFiles, RegistryConfig, RegistryEntry, RepositoryAccess,
    RepositoryKind, Secret,
};

/// A repository whose password is the user name, twice.
pub(crate) fn access(url: &str, username: &str) -> RepositoryAccess {
    RepositoryAccess {
        url: url.to_owned(),
        kind: RepositoryKind::Helm,
        username: username.to_owned(),
        password: Secret::new(username.repeat(2)),
        ..RepositoryAccess::default()
    }
}

pub(crate) fn of_project(project: &str, access: RepositoryAccess) -> RepositoryAccess {
    RepositoryAccess { project: project.to_owned(), ..access }
}

fn of_kind(kind: RepositoryKind, access: RepositoryAccess) -> RepositoryAccess {
    RepositoryAccess { kind, ..access }
}

pub(crate) fn known(repositories: &[RepositoryAccess], templates: &[RepositoryAccess]) -> KnownRepositories {
    KnownRepositories {
        repositories: repositories.to_vec(),
        templates: templates.to_vec(),
        ..KnownRepositories::default()
    }
}

fn mounted(url: &str, username: &str) -> MountedRepository {
    MountedRepository {
        access: access(url, username),
        credentials: CredentialReach::EveryServer,
        files: PemFiles::default(),
    }
}

#[test]
fn project_secret_precedes_global_secret_and_template() {
    const A: &str = "https://a.example.org/x";
    const DEEP: &str = "https://a.example.org/x/deep";
    let own = of_project("team", access(A, "own"));
    let others = of_project("other", access(A, "other"));
    let global = access(A, "all");
    let git = of_kind(RepositoryKind::Git, access(A, "git"));
    let host = access("https://a.example.org", "host");
    let path = access(A, "path");
    let private = of_project("other", access(DEEP, "private"));
    let cases: [(&[&RepositoryAccess], &[&RepositoryAccess], &str, &str); 12] = [
        (&[&others, &global, &own], &[&host], A, "own"),
        (&[&others, &global], &[&host], A, "all"),
        (&[&others], &[&host], A, "host"),
        (&[&others], &[], A, ""),
        (&[&git, &global], &[], A, "all"),
        (&[&git], &[], A, "git"),
        (&[], &[&host, &path], DEEP, "path"),
        (&[], &[&path, &host, &private], DEEP, "path"),
        (&[], &[&host, &path], "https://a.example.org/other", "host"),
        (&[&global], &[], DEEP, ""),
        (&[&global], &[], "HTTPS://A.example.org/x/", "all"),
        (&[], &[&path], "https://a.example.org.evil.org/x", ""),
    ];
    for (repositories, templates, address, expected) in cases {
        let owned = |list: &[&RepositoryAccess]| list.iter().map(|&one| one.clone()).collect::<Vec<_>>();
        let known = known(&owned(repositories), &owned(templates));
        let found = known.find("team", address, RepositoryUse::Chart);
        assert_eq!(found.access.username, expected, "{known:?} {address}");
    }
}

#[test]
fn longest_template_completes_missing_credentials() {
    const A: &str = "https://a.example.org/x";
    let template = RepositoryAccess {
        insecure: true,
        insecure_oci_force_http: true,
        proxy: Secret::new("http://proxy.example.org"),
        bearer_token: Secret::new("token"),
        ssh_private_key: Secret::new("private"),
        tls_client_cert_data: "certificate".to_owned(),
        tls_client_cert_key: Secret::new("key"),
        ..access("https://a.example.org", "t")
    };
    let bare = RepositoryAccess {
        name: "a".to_owned(),
        ca_data: "authority".to_owned(),
        proxy: Secret::new("http://own.example.org"),
        enable_oci: true,
        ..access(A, "")
    };
    let completed = RepositoryAccess {
        username: "t".to_owned(),
        password: Secret::new("tt"),
        bearer_token: Secret::new("token"),
        ssh_private_key: Secret::new("private"),
        tls_client_cert_data: "certificate".to_owned(),
        tls_client_cert_key: Secret::new("key"),
        insecure_oci_force_http: true,
        enable_oci: false,
        ..bare.clone()
    };
    let with = |own: RepositoryAccess| known(&[own], std::slice::from_ref(&template));
    assert_eq!(with(bare.clone()).find("", A, RepositoryUse::Chart).access, completed);
    assert_eq!(with(bare.clone()).named("", "a")[0].access, completed);
    for own in [
        RepositoryAccess { username: "u".to_owned(), ..bare.clone() },
        RepositoryAccess { password: Secret::new("p"), ..bare.clone() },
        RepositoryAccess { bearer_token: Secret::new("b"), ..bare.clone() },
        RepositoryAccess { ssh_private_key: Secret::new("k"), ..bare.clone() },
        RepositoryAccess { tls_client_cert_data: "c".to_owned(), ..bare },
    ] {
        assert_eq!(with(own.clone()).find("", A, RepositoryUse::Chart).access, own);
    }
    let alone = known(&[], &[template]).find("", A, RepositoryUse::Chart).access;
    assert_eq!((alone.username.as_str(), alone.insecure, alone.insecure_oci_force_http), ("t", false, true));
}

#[test]
fn git_gets_secrets_of_any_kind_but_no_mounted_credentials() {
    const A: &str = "git@a.example.org:team/x.git";
    const B: &str = "https://b.example.org/x";
    let git = |url: &str, username: &str| of_kind(RepositoryKind::Git, access(url, username));
    let mut known = known(
        &[
            access(A, "helm"),
            git("ssh://git@A.example.org/Team/x", "git"),
            of_project("other", git(B, "other")),
            of_kind(RepositoryKind::Oci, access("https://c.example.org/x", "oci")),
        ],
        &[git("git@a.example.org", "template")],
    );
    known.certificates = BTreeMap::from([("b.example.org".to_owned(), "authority".to_owned())]);
    known.mounted.repositories = vec![mounted(B, "mounted")];
    for (project, address, repository_use, expected) in [
        ("team", A, RepositoryUse::Git, ("git", "")),
        ("team", A, RepositoryUse::Chart, ("helm", "")),
        ("team", "git@a.example.org:team/y", RepositoryUse::Git, ("template", "")),
        ("team", "git@a.example.org.evil.org:team/y", RepositoryUse::Git, ("", "")),
        ("team", "https://c.example.org/x.git", RepositoryUse::Git, ("oci", "")),
        ("other", B, RepositoryUse::Git, ("other", "authority")),
        ("team", B, RepositoryUse::Git, ("", "authority")),
        ("team", B, RepositoryUse::Chart, ("mounted", "authority")),
    ] {
        let FoundAccess { access, .. } = known.find(project, address, repository_use);
        assert_eq!(
            (access.username.as_str(), access.ca_data.as_str()),
            expected,
            "{project} {address} {repository_use:?}"
        );
    }
}

#[test]
fn only_dependency_gets_credentials_of_overlapping_registry() {
    use RepositoryUse::{Chart, Dependency};
    let whole = RepositoryAccess { enable_oci: true, ..access("r.example.org", "whole") };
    let part = of_kind(RepositoryKind::Oci, access("oci://r.example.org/team/web", "part"));
    let git = of_kind(RepositoryKind::Git, access("https://a.example.org", "git"));
    let known = known(&[of_project("other", whole.clone()), whole, part, git], &[]);
    for (address, repository_use, expected) in [
        ("r.example.org/team", Dependency, "whole"),
        ("oci://r.example.org/team", Dependency, "whole"),
        ("r.example.org/team", Chart, ""),
        ("r.example.org/team/web", Chart, "part"),
        ("r.example.org.evil.org/team", Dependency, ""),
        ("https://r.example.org/team", Dependency, ""),
        ("https://a.example.org", Chart, "git"),
        ("https://a.example.org", Dependency, ""),
    ] {
        let found = known.find("team", address, repository_use);
        assert_eq!(found.access.username, expected, "{address} {repository_use:?}");
        assert_eq!(found.access.project, "", "{address} {repository_use:?}");
    }
}

#[test]
fn name_selects_project_then_global_then_mounted_repository() {
    let named = |name: &str, access: RepositoryAccess| RepositoryAccess { name: name.to_owned(), ..access };
    let mut known = known(
        &[
            named("x", access("https://all.example.org", "all")),
            named("x", of_project("team", access("https://own.example.org", "own"))),
            named("x", of_project("other", access("https://other.example.org", "other"))),
            named("g", of_kind(RepositoryKind::Git, access("https://git.example.org", "git"))),
            named("y", access("https://y.example.org", "y1")),
            named("y", access("https://z.example.org", "y2")),
        ],
        &[],
    );
    let entry = |name: &str, url: &str| {
        let mounted = mounted(url, "mounted");
        MountedRepository { access: named(name, mounted.access), ..mounted }
    };
    known.mounted.repositories =
        vec![entry("x", "https://m.example.org"), entry("m", "https://m.example.org")];
    for (project, name, expected) in [
        ("team", "x", &["own"][..]),
        ("third", "x", &["all"]),
        ("", "y", &["y1", "y2"]),
        ("", "g", &[]),
        ("", "m", &["mounted"]),
        ("", "absent", &[]),
    ] {
        let found = known.named(project, name);
        let found: Vec<&str> = found.iter().map(|one| one.access.username.as_str()).collect();
        assert_eq!(found, expected, "{project} {name}");
    }
}

#[test]
fn mounted_credentials_apply_without_secret_credentials() {
    let insecure = |url: &str, username: &str| RepositoryAccess { insecure: true, ..access(url, username) };
    let mut known = known(
        &[
            insecure("https://a.example.org", "secret"),
            access("https://b.example.org", ""),
            insecure("https://f.example.org", ""),
        ],
        &[access("https://c.example.org", "template")],
    );
    known.mounted.repositories = ["a", "b", "c", "d", "f"]
        .map(|name| mounted(&format!("https://{name}.example.org/"), "mounted"))
        .into();
    for (address, username, insecure, reach) in [
        ("https://a.example.org", "secret", true, CredentialReach::OwnServer),
        ("https://b.example.org", "mounted", false, CredentialReach::EveryServer),
        ("https://c.example.org", "template", false, CredentialReach::OwnServer),
        ("https://d.example.org", "mounted", false, CredentialReach::EveryServer),
        ("https://e.example.org", "", false, CredentialReach::OwnServer),
        ("https://f.example.org", "", true, CredentialReach::OwnServer),
    ] {
        let FoundAccess { access, credentials, .. } = known.find("", address, RepositoryUse::Chart);
        assert_eq!((access.username.as_str(), access.insecure, credentials), (username, insecure, reach));
    }
}

#[test]
fn server_ca_certificates_apply_to_settings_without_any() {
    let own = RepositoryAccess { ca_data: "own".to_owned(), ..access("https://a.example.org/own", "u") };
    let named = |name: &str, access: RepositoryAccess| RepositoryAccess { name: name.to_owned(), ..access };
    let mut known = known(&[own, named("bare", access("https://a.example.org:8443/bare", "u"))], &[]);
    known.certificates = BTreeMap::from([("a.example.org".to_owned(), "server".to_owned())]);
    let entry = mounted("https://a.example.org/mounted", "u");
    known.mounted.repositories = vec![MountedRepository {
        access: named("mounted", entry.access),
        files: PemFiles { authorities: "/ca.pem".to_owned(), ..PemFiles::default() },
        ..entry
    }];
    let parts = |found: FoundAccess| (found.access.ca_data, found.files.authorities);
    for (address, expected) in [
        ("https://a.example.org/own", "own"),
        ("https://a.example.org:8443/bare", "server"),
        ("https://a.example.org/mounted", "server"),
        ("https://a.example.org/unknown", "server"),
        ("a.example.org/registry", "server"),
        ("oci://a.example.org:5000/registry", "server"),
        ("https://b.a.example.org/unknown", ""),
    ] {
        let found = parts(known.find("", address, RepositoryUse::Dependency));
        assert_eq!(found, (expected.to_owned(), String::new()), "{address}");
    }
    for name in ["bare", "mounted"] {
        let found = known.named("", name).remove(0);
        assert_eq!(parts(found), ("server".to_owned(), String::new()), "{name}");
    }
}

#[test]
fn registry_without_password_gets_credentials_of_its_host() {
    let mut known = known(&[RepositoryAccess { enable_oci: true, ..access("with.example.org", "u") }], &[]);
    let names = ["with.example.org", "entry.example.org:5000", "https://index.docker.io/v1/"];
    known.mounted.registries = vec![RegistryConfig {
        file: String::new(),
        logins: names.map(|name| (name.to_owned(), Secret::new(name))).into(),
        helpers: [("helped.example.org".to_owned(), "ecr-login".to_owned())].into(),
        helper: None,
    }];
    let login =
        |known: &KnownRepositories, address: &str| known.find("", address, RepositoryUse::Dependency).login;
    let entry =
        |name: &str| RegistryLogin::Entry(RegistryEntry { json: Secret::new(name), file: String::new() });
    let helper = |name: &str| RegistryLogin::Helper { name: name.to_owned(), otherwise: Box::default() };
    for (address, expected) in [
        ("oci://with.example.org/charts", RegistryLogin::None),
        ("oci://entry.example.org:5000/charts", entry("entry.example.org:5000")),
        ("entry.example.org:5000/charts", entry("entry.example.org:5000")),
        ("oci://docker.io/charts", entry("https://index.docker.io/v1/")),
        ("helped.example.org/charts", helper("ecr-login")),
        ("other.example.org/charts", RegistryLogin::None),
        ("https://entry.example.org:5000/charts", RegistryLogin::None),
    ] {
        assert_eq!(login(&known, address), expected, "{address}");
    }
    known.mounted.registries[0].helper = Some("pass".to_owned());
    assert_eq!(login(&known, "other.example.org/charts"), helper("pass"));
    assert_eq!(login(&known, "helped.example.org/x"), helper("ecr-login"));
}

#[test]
fn overlapping_registry_gives_only_password_and_plain_http() {
    let around = RepositoryAccess {
        name: "around".to_owned(),
        enable_oci: true,
        insecure: true,
        insecure_oci_force_http: true,
        ca_data: "authority".to_owned(),
        tls_client_cert_data: "certificate".to_owned(),
        tls_client_cert_key: Secret::new("key"),
        proxy: Secret::new("http://proxy.example.org"),
        no_proxy: "x".to_owned(),
        ..access("r.example.org", "u")
    };
    let shared = RepositoryAccess {
        kind: RepositoryKind::default(),
        enable_oci: true,
        insecure_oci_force_http: true,
        ..access("", "u")
    };
    let known = known(&[around], &[]);
    assert_eq!(known.find("", "oci://r.example.org/team", RepositoryUse::Dependency).access, shared);
}
