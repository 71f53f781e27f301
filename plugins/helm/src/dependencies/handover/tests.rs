//! Helm's files, and repositories that cannot be in one call of helm.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use tiphys_model::access::{
    CredentialReach, LoginOwner, PemFiles, RegistryEntry, RegistryLogin, RepoUrl, RepositoryAccess, Secret,
};

use super::{Handover, ca_certificates, hand_over};
use crate::dependencies::DependencyError;
use crate::dependencies::remote::{RemoteKind, RemoteRepository};
use crate::home::Home;
use crate::host::Host;

fn remote(kind: RemoteKind, address: &str, access: RepositoryAccess) -> RemoteRepository {
    RemoteRepository {
        kind,
        address: RepoUrl::new(address),
        name: String::new(),
        access,
        credentials: CredentialReach::OwnServer,
        owner: LoginOwner::Settings,
        login: RegistryLogin::None,
        files: PemFiles::default(),
    }
}

fn login(username: &str, password: &str) -> RepositoryAccess {
    RepositoryAccess {
        username: username.to_owned(),
        password: Secret::new(password),
        ..RepositoryAccess::default()
    }
}

struct Handed {
    repositories: Value,
    logins: Value,
    handover: Handover,
    /// The home is below it, and is dropped first.
    _home: Home,
    _temporary: tempfile::TempDir,
}

fn refused(remotes: &[RemoteRepository]) -> DependencyError {
    let temporary = tempfile::tempdir().unwrap();
    let home = Home::in_a_test(temporary.path()).unwrap();
    hand_over(&home, &Host::for_test(temporary.path(), &[]), remotes).unwrap_err()
}

fn handed(remotes: &[RemoteRepository]) -> Handed {
    let temporary = tempfile::tempdir().unwrap();
    let host = Host::for_test(temporary.path(), &[("SSL_CERT_FILE", "/dev/null")]);
    let home = Home::in_a_test(temporary.path()).unwrap();
    let handover = hand_over(&home, &host, remotes).unwrap();
    let file = |name: &str| {
        let path = home.path().join("config").join(name);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    let (repositories, logins) = (file("repositories.yaml"), file("registry/config.json"));
    Handed { repositories, logins, handover, _home: home, _temporary: temporary }
}

#[test]
fn helm_repository_is_written_with_its_credentials() {
    let access = RepositoryAccess {
        ca_data: "ca".to_owned(),
        tls_client_cert_data: "cert".to_owned(),
        tls_client_cert_key: Secret::new("key"),
        insecure: true,
        ..login("u", "p\"w: x")
    };
    let mut all = [
        remote(RemoteKind::Web, "https://a.example.com", access),
        remote(RemoteKind::Web, "https://b.example.com", RepositoryAccess::default()),
    ];
    all[0].credentials = CredentialReach::EveryServer;
    all[1].name = "repository-0".to_owned();
    let handed = handed(&all);
    let entry = &handed.repositories["repositories"][0];
    assert_eq!(
        (&entry["url"], &entry["username"], &entry["password"]),
        (&json!("https://a.example.com"), &json!("u"), &json!("p\"w: x"))
    );
    assert_eq!(
        (&entry["insecure_skip_tls_verify"], &entry["pass_credentials_all"]),
        (&json!(true), &json!(true))
    );
    for (field, text) in [("caFile", "ca"), ("certFile", "cert"), ("keyFile", "key")] {
        let path = entry[field].as_str().unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), text);
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o600);
    }
    assert_eq!(
        (&entry["name"], &handed.repositories["repositories"][1]["name"]),
        (&json!("repository-0-"), &json!("repository-0"))
    );
    assert_eq!(handed.logins, json!({ "auths": {} }));
    assert_eq!(handed.handover, Handover::default());
}

#[test]
fn only_credentials_of_required_registries_are_written() {
    let place = |address, access| remote(RemoteKind::Registry, address, access);
    let all = [
        place("r.example.com:5000/charts", login("u", "p")),
        place("r.example.com:5000/more", login("u", "p")),
        RemoteRepository {
            login: RegistryLogin::Entry(RegistryEntry {
                json: Secret::new(r#"{"auth":"mounted"}"#),
                file: String::new(),
            }),
            ..place("m.example.com/charts", RepositoryAccess::default())
        },
        place("docker.io/charts", login("d", "p")),
        place("open.example.com/charts", RepositoryAccess::default()),
    ];
    let handed = handed(&all);
    let expected = json!({
        "auths": {
            "r.example.com:5000": { "auth": "dTpw" },
            "m.example.com": { "auth": "mounted" },
            "https://index.docker.io/v1/": { "auth": "ZDpw" },
        },
    });
    assert_eq!(handed.logins, expected);
    assert_eq!(handed.repositories["repositories"], json!([]));
    assert_eq!(handed.handover, Handover::default());
}

#[test]
fn registries_must_have_equal_settings() {
    let place = |address, access| remote(RemoteKind::Registry, address, access);
    let plain =
        RepositoryAccess { insecure_oci_force_http: true, insecure: true, ..RepositoryAccess::default() };
    let insecure = RepositoryAccess { insecure: true, ..RepositoryAccess::default() };
    let own = RepositoryAccess { ca_data: "ca\n".to_owned(), ..RepositoryAccess::default() };
    let it = handed(&[place("a/x", plain.clone())]);
    assert_eq!(it.handover.options, ["--plain-http"]);
    let it = handed(&[place("a/x", insecure.clone())]);
    assert_eq!(it.handover.options, ["--insecure-skip-tls-verify"]);
    let two = [place("a/x", own), place("b/x", RepositoryAccess::default())];
    let it = handed(&two);
    assert_eq!(it.handover.options[0], "--ca-file");
    assert_eq!(fs::read_to_string(&it.handover.options[1]).unwrap(), "ca\n");

    for (first, second, expected) in [
        (plain, RepositoryAccess::default(), "plain HTTP"),
        (insecure, RepositoryAccess::default(), "insecure"),
        (
            RepositoryAccess { tls_client_cert_data: "c".to_owned(), ..RepositoryAccess::default() },
            RepositoryAccess::default(),
            "client certificates",
        ),
    ] {
        let error = refused(&[place("a/x", first), place("b/x", second)]);
        assert!(matches!(&error, DependencyError::Differing { what, .. } if *what == expected), "{error}");
    }
    let one_host = [place("a/x", login("u", "p")), place("a/y", login("v", "p"))];
    let error = refused(&one_host);
    assert!(matches!(error, DependencyError::Differing { what: "credentials", .. }), "{error}");
}

#[test]
fn proxy_applies_only_to_repositories_that_have_it() {
    let with = |proxy: &str, no_proxy: &str| RepositoryAccess {
        proxy: Secret::new(proxy),
        no_proxy: no_proxy.to_owned(),
        ..RepositoryAccess::default()
    };
    let place = |address, access| remote(RemoteKind::Web, address, access);
    let all = [
        place("https://a.example.com/x", with("http://proxy:3128", "internal")),
        place("https://b.example.com:8443/x", RepositoryAccess::default()),
    ];
    let it = handed(&all);
    let expected = [
        ("HTTP_PROXY", "http://proxy:3128"),
        ("http_proxy", "http://proxy:3128"),
        ("HTTPS_PROXY", "http://proxy:3128"),
        ("https_proxy", "http://proxy:3128"),
        ("NO_PROXY", "internal,b.example.com"),
        ("no_proxy", "internal,b.example.com"),
    ];
    assert_eq!(it.handover.environment, expected.map(|(name, value)| (name.to_owned(), Secret::new(value))));
    let printed = format!("{:?}", it.handover);
    assert!(printed.contains("HTTP_PROXY") && !printed.contains("3128"), "{printed}");
    let two = [place("https://a/x", with("http://p1", "")), place("https://b/x", with("http://p2", ""))];
    let error = refused(&two);
    assert!(matches!(error, DependencyError::Differing { what: "proxies", .. }), "{error}");
}

#[test]
fn system_ca_certificates_are_read_from_file_and_dirs() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for name in ["one", "two"] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(&format!("{name}/a.pem")), name).unwrap();
    }
    mkfifoat(CWD, at("two/pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    fs::write(at("file"), "file").unwrap();
    let with_ca = RepositoryAccess { ca_data: "own".to_owned(), ..RepositoryAccess::default() };
    let with_ca = remote(RemoteKind::Registry, "a/x", with_ca);
    let without = remote(RemoteKind::Registry, "b/x", RepositoryAccess::default());
    let list = format!("{}:{}::{}", at("one"), at("none"), at("two"));
    for (variables, remotes, expected) in [
        (vec![("SSL_CERT_FILE", at("file"))], vec![&with_ca], "own\n"),
        (vec![("SSL_CERT_FILE", at("file"))], vec![&without], ""),
        (vec![("SSL_CERT_FILE", at("file"))], vec![&with_ca, &without], "own\nfile"),
        (
            vec![("SSL_CERT_FILE", at("file")), ("SSL_CERT_DIR", list)],
            vec![&with_ca, &without],
            "own\nfile\none\ntwo",
        ),
    ] {
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let host = Host::for_test(folder.path(), &variables);
        assert_eq!(ca_certificates(&host, &remotes), expected);
    }
}
