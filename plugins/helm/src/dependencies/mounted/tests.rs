//! Files that helm and docker write.

use std::fs;
use std::io;

use tiphys_params::context::{CredentialReach, PemFiles};

use super::{By, FILE_BYTES_MAX, MountedError, Needs, logins, read_certificates};
use crate::dependencies::remote::{Remote, RemoteKind};
use crate::settings::Host;

#[test]
fn repositories_and_logins_are_read_from_where_helm_and_docker_have_them() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let pem = home.path().join("ca.pem");
    at(
        ".config/helm/repositories.yaml",
        &format!(
            "apiVersion: \"\"\nrepositories:\n- name: priv\n  url: https://a.example.com\n  username: u\n  password: secret\n  caFile: {}\n  \
             pass_credentials_all: true\n  insecure_skip_tls_verify: true\n- {{name: open, url: 'https://b.example.com'}}\n",
            pem.display()
        ),
    );
    at(".config/helm/registry/config.json", r#"{"auths": {"r.example.com": {"auth": "aGVsbQ=="}}}"#);
    at(
        ".docker/config.json",
        r#"{"auths": {"r.example.com": {"auth": "ZG9ja2Vy"}, "s.example.com": {"auth": "ZG9ja2Vy"}, "t.example.com": {}},
            "credHelpers": {"t.example.com": "ecr-login"}, "credsStore": "pass"}"#,
    );
    let host = Host::made_up(home.path(), &[("HOME", home.path().to_str().unwrap())]);

    let found = logins(&host, Needs::RepositoriesAndLogins).unwrap();

    let [private, open] = found.repositories.as_slice() else { panic!("{found:?}") };
    let access = &private.access;
    assert_eq!(
        (access.name.as_str(), access.url.as_str(), access.username.as_str(), access.password.expose()),
        ("priv", "https://a.example.com", "u", "secret")
    );
    assert_eq!((private.files.authorities.as_str(), access.insecure), (pem.to_str().unwrap(), true));
    assert_eq!(
        (private.credentials, open.credentials),
        (CredentialReach::EveryServer, CredentialReach::OwnServer)
    );
    assert_eq!(found.logins["r.example.com"].expose(), r#"{"auth":"aGVsbQ=="}"#);
    assert_eq!(found.logins["s.example.com"].expose(), r#"{"auth":"ZG9ja2Vy"}"#);
    assert_eq!(found.logins.len(), 2);
    assert_eq!(found.helpers["t.example.com"], "ecr-login");
    assert_eq!(found.helper.as_deref(), Some("pass"));
}

#[test]
fn variables_name_other_files_and_no_file_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.yaml");
    let host = Host::made_up(folder.path(), &[("HELM_REPOSITORY_CONFIG", path.to_str().unwrap())]);
    assert!(logins(&host, Needs::RepositoriesAndLogins).unwrap().repositories.is_empty());
    fs::write(&path, "repositories: [{name: a, url: 'https://a.example.com'}]\n").unwrap();
    assert_eq!(logins(&host, Needs::RepositoriesAndLogins).unwrap().repositories[0].access.name, "a");
    assert!(
        logins(&Host::made_up(folder.path(), &[]), Needs::RepositoriesAndLogins)
            .unwrap()
            .repositories
            .is_empty()
    );
}

#[test]
fn a_broken_file_is_named_and_nothing_of_it_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    for (variable, name, text) in [
        ("HELM_CONFIG_HOME", "repositories.yaml", "repositories: [{password: [geheim]}]\n"),
        ("HELM_CONFIG_HOME", "repositories.yaml", "geheim: [\n"),
        ("DOCKER_CONFIG", "config.json", "{\"auths\": geheim"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let host = Host::made_up(folder.path(), &[(variable, folder.path().to_str().unwrap())]);
        let error = logins(&host, Needs::RepositoriesAndLogins).unwrap_err();
        let text = crate::failure::chain(&error);
        assert!(matches!(error, MountedError::Shape { .. }), "{text}");
        assert!(text.contains(name) && !text.contains("geheim"), "{text}");
        fs::remove_file(folder.path().join(name)).unwrap();
    }
}

#[test]
fn what_is_not_needed_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["repositories.yaml", "config.json"] {
        fs::write(folder.path().join(name), "- [").unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let docker = Host::made_up(folder.path(), &[("DOCKER_CONFIG", path)]);
    let both = Host::made_up(folder.path(), &[("DOCKER_CONFIG", path), ("HELM_CONFIG_HOME", path)]);
    assert!(logins(&both, Needs::Nothing).is_ok());
    assert!(logins(&docker, Needs::Repositories).is_ok());
    assert!(logins(&both, Needs::Repositories).is_err());
    assert!(logins(&docker, Needs::RepositoriesAndLogins).is_err());
}

#[test]
fn certificates_of_a_place_that_is_fetched_from_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["authorities", "certificate", "key"] {
        fs::write(path(name), name).unwrap();
    }
    let with = |key: &str| {
        let files =
            PemFiles { authorities: path("authorities"), certificate: path("certificate"), key: path(key) };
        Remote { files, ..Remote::unknown("https://a.example.com", RemoteKind::Web) }
    };
    let mut remote = with("key");
    read_certificates(&mut remote).unwrap();
    let access = &remote.access;
    let texts = [&access.ca_data, &access.tls_client_cert_data, access.tls_client_cert_key.expose()];
    assert_eq!(texts, ["authorities", "certificate", "key"]);
    let error = read_certificates(&mut with("missing")).unwrap_err();
    assert!(crate::failure::chain(&error).contains("missing"), "{error}");
}

#[test]
fn a_usual_place_that_is_closed_holds_nothing_and_a_named_one_fails() {
    for (kind, by, is_absent) in [
        (io::ErrorKind::NotFound, By::Habit, true),
        (io::ErrorKind::NotFound, By::Variable, true),
        (io::ErrorKind::PermissionDenied, By::Habit, true),
        (io::ErrorKind::PermissionDenied, By::Variable, false),
        (io::ErrorKind::IsADirectory, By::Habit, false),
    ] {
        assert_eq!(by.absent::<()>(kind.into()).is_ok(), is_absent, "{kind} {by:?}");
    }
}

#[test]
fn a_file_above_the_bound_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    let with = |bytes: u64| {
        fs::write(&path, format!("{{}}{}", " ".repeat(usize::try_from(bytes).unwrap() - 2))).unwrap();
        let host = Host::made_up(folder.path(), &[("DOCKER_CONFIG", folder.path().to_str().unwrap())]);
        logins(&host, Needs::RepositoriesAndLogins).map_err(|error| crate::failure::chain(&error))
    };
    assert!(with(FILE_BYTES_MAX).is_ok());
    let error = with(FILE_BYTES_MAX + 1).unwrap_err();
    assert!(error.ends_with("config.json: it has more than 16777216 bytes"), "{error}");
}
