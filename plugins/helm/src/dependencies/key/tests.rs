//! Inputs that change a key, and inputs that do not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tiphys_model::access::{
    CredentialReach, LoginOwner, PemFiles, RegistryEntry, RegistryLogin, RepoUrl, RepositoryAccess, Secret,
};

use super::{BuildKey, Hasher, Inputs};
use crate::dependencies::remote::{RemoteKind, RemoteRepository};

const SECRET: [u8; 32] = [7; 32];

fn remote(password: &str) -> RemoteRepository {
    RemoteRepository {
        kind: RemoteKind::Web,
        address: RepoUrl::new("https://a.example.com"),
        name: String::new(),
        access: RepositoryAccess { password: Secret::new(password), ..RepositoryAccess::default() },
        credentials: CredentialReach::OwnServer,
        owner: LoginOwner::Settings,
        login: RegistryLogin::None,
        files: PemFiles::default(),
    }
}

fn key(root: &Path, helm: &str, password: &str) -> Option<BuildKey> {
    let folders = [root.join("dep")];
    let remotes = [remote(password)];
    Inputs { helm, chart: &root.join("app"), local: &folders, remotes: &remotes }.key(&SECRET)
}

#[test]
fn every_file_that_a_build_reads_changes_the_key() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    for folder in ["app/charts", "app/templates", "dep/templates", "elsewhere"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("app/Chart.yaml"), "name: app").unwrap();
    symlink("../elsewhere/file", root.join("dep/link")).unwrap();
    let mut keys = vec![key(root, "v4.3.1", "p").unwrap()];
    assert_eq!(key(root, "v4.3.1", "p").as_ref(), keys.first());
    keys.extend([key(root, "v3.22.0", "p").unwrap(), key(root, "v4.3.1", "q").unwrap()]);
    for file in [
        "app/Chart.yaml",
        "app/Chart.lock",
        "app/requirements.yaml",
        "app/requirements.lock",
        "app/charts/x.tgz",
        "dep/Chart.yaml",
        "dep/templates/t.yaml",
        "elsewhere/file",
    ] {
        fs::write(root.join(file), "changed").unwrap();
        let changed = key(root, "v4.3.1", "p").unwrap();
        assert!(!keys.contains(&changed), "{file}");
        keys.push(changed);
    }
    fs::rename(root.join("dep/templates/t.yaml"), root.join("dep/templates/u.yaml")).unwrap();
    let renamed = key(root, "v4.3.1", "p").unwrap();
    assert!(!keys.contains(&renamed));
    fs::write(root.join("app/templates/t.yaml"), "no build reads it").unwrap();
    assert_eq!(key(root, "v4.3.1", "p"), Some(renamed));
}

#[test]
fn every_setting_of_a_repository_changes_the_key() {
    let root = tempfile::tempdir().unwrap();
    let key = |remote: RemoteRepository| {
        Inputs { helm: "v4.3.1", chart: root.path(), local: &[], remotes: &[remote] }.key(&SECRET).unwrap()
    };
    let access = |change: &dyn Fn(&mut RepositoryAccess)| {
        let mut remote = remote("");
        change(&mut remote.access);
        remote
    };
    let entry =
        |json: &str| RegistryLogin::Entry(RegistryEntry { json: Secret::new(json), file: String::new() });
    let helper = |name: &str, otherwise: RegistryLogin| RegistryLogin::Helper {
        name: name.to_owned(),
        otherwise: Box::new(otherwise),
    };
    let login = |login: RegistryLogin| RemoteRepository { login, ..remote("") };
    let places = [
        remote(""),
        RemoteRepository { kind: RemoteKind::Registry, ..remote("") },
        RemoteRepository { kind: RemoteKind::Plugin, ..remote("") },
        RemoteRepository { address: RepoUrl::new("https://b.example.com"), ..remote("") },
        RemoteRepository { name: "named".to_owned(), ..remote("") },
        RemoteRepository { credentials: CredentialReach::EveryServer, ..remote("") },
        login(entry("pass")),
        login(entry("pass2")),
        login(helper("pass", RegistryLogin::None)),
        login(helper("pass", entry("pass"))),
        login(helper("pass", entry("pass2"))),
        login(helper("pass", helper("pass", RegistryLogin::None))),
        login(helper("pass", helper("pass2", entry("pass")))),
        login(helper("pass2", helper("pass", entry("pass")))),
        access(&|access| access.username = "x".to_owned()),
        access(&|access| access.password = Secret::new("x")),
        access(&|access| access.ca_data = "x".to_owned()),
        access(&|access| access.tls_client_cert_data = "x".to_owned()),
        access(&|access| access.tls_client_cert_key = Secret::new("x")),
        access(&|access| access.proxy = Secret::new("x")),
        access(&|access| access.no_proxy = "x".to_owned()),
        access(&|access| access.insecure = true),
        access(&|access| access.insecure_oci_force_http = true),
    ];
    let keys: Vec<BuildKey> = places.into_iter().map(key).collect();
    for (index, key) in keys.iter().enumerate() {
        assert!(!keys[..index].contains(key), "place {index}");
    }
}

#[test]
fn directory_with_a_link_to_a_directory_has_no_key() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("dep")).unwrap();
    assert!(key(root.path(), "v4.3.1", "p").is_some());
    symlink("..", root.path().join("dep/up")).unwrap();
    assert_eq!(key(root.path(), "v4.3.1", "p"), None);
}

#[test]
fn keys_differ_between_caches() {
    let root = tempfile::tempdir().unwrap();
    let chart = root.path();
    let inputs = Inputs { helm: "v4.3.1", chart, local: &[], remotes: &[] };
    assert_ne!(inputs.key(&SECRET), inputs.key(&[8; 32]));
}

#[test]
fn absence_file_and_directory_have_different_keys() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    fs::create_dir(path("empty")).unwrap();
    fs::write(path("x"), "x").unwrap();
    fs::write(path("nothing"), "").unwrap();
    let digest = |write: &dyn Fn(&mut Hasher)| {
        let mut hasher = Hasher(blake3::Hasher::new());
        write(&mut hasher);
        hasher.0.finalize()
    };
    let digests = [
        digest(&|it| it.file(&path("x")).unwrap()),
        digest(&|it| {
            it.folder(&path("empty")).unwrap();
            it.part(b"x");
        }),
        digest(&|it| {
            it.file(&path("absent")).unwrap();
            it.part(b"x");
        }),
        digest(&|it| it.folder(&path("empty")).unwrap()),
        digest(&|it| it.file(&path("nothing")).unwrap()),
        digest(&|it| it.folder(&path("absent")).unwrap()),
    ];
    for (index, digest) in digests.iter().enumerate() {
        assert!(!digests[..index].contains(digest), "{index}");
    }
}
