use super::{ChartProtocol, MountedLogins, OtherShape, PemFiles, RegistryEntry};
use crate::access::{CredentialReach, LoginOwner, RegistryLogin, RepositoryAccess, Secret};

#[test]
fn repositories_yaml_entry_has_credentials_and_pem_files() {
    let mut mounted = MountedLogins::default();
    let file = "apiVersion: \"\"\nrepositories:\n- name: priv\n  url: https://a.example.org\n  username: u\n  password: secret\n  \
                caFile: /ca\n  certFile: /cert\n  keyFile: /key\n  pass_credentials_all: true\n  insecure_skip_tls_verify: true\n\
                - {name: open, url: 'https://b.example.org'}\n";
    assert_eq!(mounted.add_repositories(file.as_bytes()), Ok(()));
    let [private, open] = mounted.repositories.as_slice() else { panic!("{mounted:?}") };
    let access = &private.access;
    assert_eq!(
        (access.name.as_str(), access.url.as_str(), access.username.as_str(), access.password.expose()),
        ("priv", "https://a.example.org", "u", "secret")
    );
    let [authorities, certificate, key] = ["/ca", "/cert", "/key"].map(str::to_owned);
    assert_eq!(private.files, PemFiles { authorities, certificate, key });
    assert_eq!((access.insecure, open.access.insecure), (true, false));
    assert_eq!(
        (private.credentials, open.credentials),
        (CredentialReach::EveryServer, CredentialReach::OwnServer)
    );
    assert_eq!(mounted.add_repositories(b""), Ok(()));
}

/// Looks a registry up in Helm's file, then in Docker's.
fn lookup(helm: &str, docker: &str, address: &str) -> RegistryLogin {
    let mut mounted = MountedLogins::default();
    for file in [helm, docker] {
        assert_eq!(mounted.add_logins("file", file.as_bytes()), Ok(()));
    }
    mounted.fill_in(RepositoryAccess::default(), address, ChartProtocol::Registry).login
}

fn entry(pair: &str) -> RegistryLogin {
    let json = Secret::new(format!(r#"{{"auth":"{pair}"}}"#));
    RegistryLogin::Entry(RegistryEntry { json, file: "file".to_owned() })
}

fn helper(name: &str, otherwise: RegistryLogin) -> RegistryLogin {
    RegistryLogin::Helper { name: name.to_owned(), otherwise: Box::new(otherwise) }
}

#[test]
fn helper_precedes_entry_and_helm_file_precedes_docker_file() {
    const ENTRY: &str = r#"{"auths": {"r.example.org": {"auth": "docker"}}}"#;
    for (helm, docker, expected) in [
        (r#"{"auths": {"r.example.org": {"auth": "helm"}}}"#, ENTRY, entry("helm")),
        (r#"{"auths": {"r.example.org": {}}}"#, ENTRY, entry("docker")),
        (
            r#"{"auths": {"r.example.org": {"auth": "stale"}}, "credHelpers": {"r.example.org": "ecr-login"}}"#,
            "{}",
            helper("ecr-login", RegistryLogin::None),
        ),
        (
            r#"{"auths": {"r.example.org": {"auth": "stale"}}, "credHelpers": {"s.example.org": "ecr-login"}, "credsStore": "pass"}"#,
            ENTRY,
            helper("pass", entry("docker")),
        ),
        (
            r#"{"credHelpers": {"r.example.org": "ecr-login"}, "credsStore": "pass"}"#,
            r#"{"credsStore": "desktop"}"#,
            helper("ecr-login", helper("desktop", RegistryLogin::None)),
        ),
        (r#"{"credHelpers": {"r.example.org": ""}, "credsStore": ""}"#, ENTRY, entry("docker")),
        (r#"{"credHelpers": {"r.example.org": null}, "credsStore": null}"#, ENTRY, entry("docker")),
        (r#"{"auths": {"r.example.org": null}, "credHelpers": null}"#, ENTRY, entry("docker")),
        (r#"{"auths": null}"#, ENTRY, entry("docker")),
        ("", ENTRY, entry("docker")),
        (" \n", ENTRY, entry("docker")),
        ("null", ENTRY, entry("docker")),
        (r#"{"auths": {"r.example.org": {"auth": "helm"}}} hunter2"#, "{}", entry("helm")),
        (r#"{"auths": {"r.example.org": {"auth": "helm"}}}"#, r#"{"credsStore": "pass"}"#, entry("helm")),
    ] {
        assert_eq!(lookup(helm, docker, "oci://r.example.org/charts"), expected, "{helm} {docker}");
    }
}

#[test]
fn entry_with_url_matches_host_but_helper_does_not() {
    let both = r#"{"auths": {"https://r.example.org/": {"auth": "old"}, "r.example.org": {"auth": "new"}}}"#;
    for (file, expected) in [
        (r#"{"auths": {"https://r.example.org/": {"auth": "old"}}}"#, entry("old")),
        (r#"{"auths": {"http://r.example.org/v2/": {"auth": "old"}}}"#, entry("old")),
        (both, entry("new")),
        (r#"{"auths": {"https://r.example.org.evil.org/": {"auth": "old"}}}"#, RegistryLogin::None),
        (r#"{"credHelpers": {"https://r.example.org/": "pass"}}"#, RegistryLogin::None),
    ] {
        assert_eq!(lookup(file, "{}", "r.example.org/charts"), expected, "{file}");
    }
}

#[test]
fn registry_credentials_depend_on_protocol_not_address() {
    let mut mounted = MountedLogins::default();
    assert_eq!(mounted.add_logins("file", br#"{"auths": {"r.example.org": {"auth": "helm"}}}"#), Ok(()));
    for (protocol, expected, owner) in [
        (ChartProtocol::Registry, entry("helm"), LoginOwner::Person),
        (ChartProtocol::Index, RegistryLogin::None, LoginOwner::Settings),
    ] {
        let found = mounted.fill_in(RepositoryAccess::default(), "https://r.example.org/charts", protocol);
        assert_eq!((found.login, found.owner), (expected, owner), "{protocol:?}");
    }
}

#[test]
fn mounted_credentials_are_not_added_to_insecure_settings() {
    let mut mounted = MountedLogins::default();
    let repositories = "repositories: [{name: a, url: 'https://a.example.org', username: u, password: p}]\n";
    assert_eq!(mounted.add_repositories(repositories.as_bytes()), Ok(()));
    assert_eq!(mounted.add_logins("file", br#"{"auths": {"a.example.org": {"auth": "helm"}}}"#), Ok(()));
    let none = RepositoryAccess::default;
    for (settings, is_filled_in) in [
        (none(), true),
        (RepositoryAccess { ca_data: "authority".to_owned(), no_proxy: "x".to_owned(), ..none() }, true),
        (RepositoryAccess { insecure: true, ..none() }, false),
        (RepositoryAccess { insecure_oci_force_http: true, ..none() }, false),
        (RepositoryAccess { proxy: Secret::new("http://proxy.example.org"), ..none() }, false),
    ] {
        let settings = RepositoryAccess { url: "https://a.example.org".to_owned(), ..settings };
        let web = mounted.fill_in(settings.clone(), "https://a.example.org", ChartProtocol::Index);
        assert_eq!(web.access.has_credentials(), is_filled_in, "{settings:?}");
        assert_eq!(web.owner == LoginOwner::Person, is_filled_in, "{settings:?}");
        let registry = mounted.fill_in(settings.clone(), "oci://a.example.org/x", ChartProtocol::Registry);
        assert_eq!(registry.login != RegistryLogin::None, is_filled_in, "{settings:?}");
    }
}

#[test]
fn invalid_file_is_rejected_without_printing_its_content() {
    let mut mounted = MountedLogins::default();
    for file in ["repositories: [{password: [hunter2]}]\n", "hunter2: [\n", "repositories: hunter2\n"] {
        assert_eq!(mounted.add_repositories(file.as_bytes()), Err(OtherShape { field: None }), "{file}");
    }
    assert_eq!(mounted.add_logins("file", b"{\"auths\": hunter2"), Err(OtherShape { field: None }));
    for (file, field) in [
        ("[]", None),
        ("5", None),
        ("hunter2", None),
        (r#"{"auths": []}"#, Some("auths")),
        (r#"{"auths": "hunter2"}"#, Some("auths")),
        (r#"{"credHelpers": ["hunter2"]}"#, Some("credHelpers")),
        (r#"{"credHelpers": {"r.example.org": 5}}"#, Some("credHelpers")),
        (r#"{"credsStore": {"hunter2": 1}}"#, Some("credsStore")),
    ] {
        let error = mounted.add_logins("file", file.as_bytes()).unwrap_err();
        assert_eq!(error, OtherShape { field }, "{file}");
        assert!(!error.to_string().contains("hunter2"));
    }
    assert!(mounted.registries.is_empty());
}
