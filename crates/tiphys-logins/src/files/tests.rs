use std::error::Error as _;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, Mode, mkfifoat};
use tiphys_model::access::{PemFiles, RepositoryAccess};

use super::{FILE_BYTES_MAX, FileError, Needs, Origin, read_certificates};
use crate::{HelperBound, OwnLogins};

/// The credentials for an environment with these variables.
fn with(variables: &[(&str, &str)]) -> OwnLogins {
    let bound = HelperBound { timeout: Duration::from_secs(1), option: None };
    OwnLogins::new(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())), bound)
}

/// The error with its cause.
fn chain(error: &FileError) -> String {
    let cause = error.source().map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

#[test]
fn repositories_and_credentials_are_read_from_default_paths() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    at(".config/helm/repositories.yaml", "repositories: [{name: a, url: 'https://a.example.com'}]\n");
    at(".config/helm/registry/config.json", r#"{"auths": {"r.example.com": {"auth": "aGVsbQ=="}}}"#);
    at(
        ".docker/config.json",
        r#"{"auths": {"r.example.com": {"auth": "ZG9ja2Vy"}, "s.example.com": {"auth": "ZG9ja2Vy"}}, "credsStore": "pass"}"#,
    );
    let found = with(&[("HOME", home.path().to_str().unwrap())]).read(Needs::RepositoriesAndLogins).unwrap();
    assert_eq!(found.repositories[0].access.url, "https://a.example.com");
    let [helm, docker] = found.registries.as_slice() else { panic!("{found:?}") };
    assert_eq!(helm.logins["r.example.com"].expose(), r#"{"auth":"aGVsbQ=="}"#);
    assert_eq!((docker.logins.len(), docker.helper.as_deref()), (2, Some("pass")));
}

#[test]
fn variables_set_paths_and_missing_files_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.yaml");
    let host = with(&[("HELM_REPOSITORY_CONFIG", path.to_str().unwrap())]);
    assert!(host.read(Needs::RepositoriesAndLogins).unwrap().repositories.is_empty());
    fs::write(&path, "repositories: [{name: a, url: 'https://a.example.com'}]\n").unwrap();
    assert_eq!(host.read(Needs::RepositoriesAndLogins).unwrap().repositories[0].access.name, "a");
    assert!(with(&[]).read(Needs::RepositoriesAndLogins).unwrap().repositories.is_empty());
}

#[test]
fn invalid_file_is_reported_without_its_content() {
    let folder = tempfile::tempdir().unwrap();
    for (variable, name, text, place) in [
        ("HELM_CONFIG_HOME", "repositories.yaml", "repositories: [{password: [hunter2]}]\n", "syntax"),
        ("HELM_CONFIG_HOME", "repositories.yaml", "hunter2: [\n", "syntax"),
        ("DOCKER_CONFIG", "config.json", "{\"auths\": hunter2", "syntax"),
        ("DOCKER_CONFIG", "config.json", "{\"auths\": [\"hunter2\"]}", "field auths"),
        ("DOCKER_CONFIG", "config.json", "{\"credsStore\": 5}", "field credsStore"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let host = with(&[(variable, folder.path().to_str().unwrap())]);
        let error = host.read(Needs::RepositoriesAndLogins).unwrap_err();
        let text = chain(&error);
        assert!(matches!(error, FileError::Shape { .. }), "{text}");
        assert!(text.contains(name) && !text.contains("hunter2"), "{text}");
        assert!(text.ends_with(&format!("; check its {place}")), "{text}");
        fs::remove_file(folder.path().join(name)).unwrap();
    }
}

#[test]
fn files_that_are_not_needed_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["repositories.yaml", "config.json"] {
        fs::write(folder.path().join(name), "- [").unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let docker = with(&[("DOCKER_CONFIG", path)]);
    let both = with(&[("DOCKER_CONFIG", path), ("HELM_CONFIG_HOME", path)]);
    assert!(both.read(Needs::Nothing).is_ok());
    assert!(docker.read(Needs::Repositories).is_ok());
    assert!(both.read(Needs::Repositories).is_err());
    assert!(docker.read(Needs::RepositoriesAndLogins).is_err());
}

#[test]
fn certificates_of_accessed_repository_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["authorities", "certificate", "key"] {
        fs::write(path(name), name).unwrap();
    }
    let files = |key: &str| PemFiles {
        authorities: path("authorities"),
        certificate: path("certificate"),
        key: path(key),
    };
    let mut access = RepositoryAccess::default();
    read_certificates(files("key"), &mut access).unwrap();
    let texts = [&access.ca_data, &access.tls_client_cert_data, access.tls_client_cert_key.expose()];
    assert_eq!(texts, ["authorities", "certificate", "key"]);
    let error = read_certificates(files("missing"), &mut access).unwrap_err();
    assert!(chain(&error).contains("missing"), "{error}");
}

#[test]
fn unreadable_default_path_is_ignored_but_named_path_fails() {
    for (kind, by, is_none) in [
        (io::ErrorKind::NotFound, Origin::Default, true),
        (io::ErrorKind::NotFound, Origin::Variable, true),
        (io::ErrorKind::PermissionDenied, Origin::Default, true),
        (io::ErrorKind::PermissionDenied, Origin::Variable, false),
    ] {
        assert_eq!(by.none_if_unavailable::<()>(kind.into()).is_ok(), is_none, "{kind} {by:?}");
    }
}

#[test]
fn file_above_the_size_limit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    let sized = |bytes: u64| {
        fs::write(&path, format!("{{}}{}", " ".repeat(usize::try_from(bytes).unwrap() - 2))).unwrap();
        let host = with(&[("DOCKER_CONFIG", folder.path().to_str().unwrap())]);
        host.read(Needs::RepositoriesAndLogins).map_err(|error| chain(&error))
    };
    assert!(sized(FILE_BYTES_MAX).is_ok());
    let error = sized(FILE_BYTES_MAX + 1).unwrap_err();
    assert!(error.ends_with("config.json: it has more than 16777216 bytes"), "{error}");
}

/// Creates something at a file's path.
type Create = fn(&Path) -> io::Result<()>;

#[test]
fn irregular_file_is_rejected_and_symlink_is_followed() {
    let cases: [(Create, bool); 6] = [
        (|path| Ok(mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?), false),
        (|path| UnixListener::bind(path).map(drop), false),
        (|path| fs::create_dir(path), false),
        (|path| symlink("/dev/zero", path), false),
        (|path| symlink(path, path), false),
        (|path| symlink("a.real", path), true),
    ];
    for (variable, place, setting) in [
        ("HELM_REPOSITORY_CONFIG", "a", "HELM_REPOSITORY_CONFIG"),
        ("HELM_CONFIG_HOME", "registry/config.json", "HELM_REGISTRY_CONFIG"),
        ("HOME", ".docker/config.json", "DOCKER_CONFIG"),
        ("caFile", "a", "caFile"),
    ] {
        for (index, (create, is_read)) in cases.into_iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(place);
            let named = if place == "a" { path.as_path() } else { folder.path() };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if is_read {
                fs::write(path.with_file_name("a.real"), "{}").unwrap();
            }
            create(&path).unwrap();
            let named = named.to_str().unwrap();
            let read = if variable == "caFile" {
                let files = PemFiles { authorities: named.to_owned(), ..PemFiles::default() };
                read_certificates(files, &mut RepositoryAccess::default())
            } else {
                with(&[(variable, named)]).read(Needs::RepositoriesAndLogins).map(drop)
            };
            let expected = format!(
                "{} is not a regular file; replace it with one, or set {setting} to another path",
                path.display()
            );
            assert_eq!(
                read.map_err(|error| chain(&error)),
                if is_read { Ok(()) } else { Err(expected) },
                "{index}"
            );
        }
    }
}

/// The working directory is the application's directory, where a file could name any credential helper.
#[test]
fn relative_path_is_rejected_with_variable_name() {
    let cases = [
        "HELM_REPOSITORY_CONFIG",
        "HELM_CONFIG_HOME",
        "XDG_CONFIG_HOME",
        "HELM_REGISTRY_CONFIG",
        "DOCKER_CONFIG",
        "HOME",
    ];
    for name in cases {
        let error = with(&[(name, "src")]).read(Needs::RepositoriesAndLogins).unwrap_err();
        assert_eq!(chain(&error), format!("{name} is \"src\"; expected an absolute path"));
    }
    let mut access = RepositoryAccess::default();
    for name in ["caFile", "certFile", "keyFile"] {
        let path = |of: &str| if of == name { "src/lib.rs".to_owned() } else { String::new() };
        let files =
            PemFiles { authorities: path("caFile"), certificate: path("certFile"), key: path("keyFile") };
        let error = read_certificates(files, &mut access).unwrap_err();
        assert_eq!(chain(&error), format!("{name} is \"src/lib.rs\"; expected an absolute path"));
    }
}
