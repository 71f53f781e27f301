//! Repositories and logins in the files that helm and docker write. They take the place of a run context where there is none, and fill in
//! what it does not know where it says that they may: it says so for a person, and not for a server.
//!
//! | file | first found of |
//! |---|---|
//! | `repositories.yaml` | `HELM_REPOSITORY_CONFIG`, `HELM_CONFIG_HOME`, `XDG_CONFIG_HOME/helm`, `HOME/.config/helm` |
//! | `registry/config.json` | `HELM_REGISTRY_CONFIG`, and as above |
//! | docker's `config.json` | `DOCKER_CONFIG`, `HOME/.docker` |
//!
//! What a chart does not need is not read, so that it cannot be in the way: neither logins where there is no registry, nor certificates of
//! other repositories. A usual place that is closed to this user holds nothing; a file that a variable of its own names must be readable.

use std::io;
use std::path::PathBuf;

use serde_json::Value;
use tiphys_params::context::{RepositoryAccess, RepositoryKind, Secret};
use tiphys_tree::read_bounded;
use tiphys_yaml::{DecodeError, Node, Object, read_document};

use super::remote::{Known, KnownRepository, PemFiles, Remote};
use crate::options::Credentials;
use crate::settings::Host;

/// Bytes of one of these files.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A mounted file that cannot be used. Nothing of its content is in the text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MountedError {
    /// It cannot be read.
    #[error("cannot read {path}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// It is something else.
    #[error("{path} is not what {writer} writes; look at its syntax", path = path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Who writes such files.
        writer: &'static str,
    },
}

/// What of these files a chart needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// Nothing: nothing is fetched.
    Nothing,
    /// Repositories.
    Repositories,
    /// Repositories, and logins to registries.
    RepositoriesAndLogins,
}

/// A file, and who says where it is.
#[derive(Clone, Debug)]
struct Mounted {
    path: PathBuf,
    by: By,
}

/// Who says where a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// A variable that is for nothing else.
    Variable,
    /// Habit.
    Habit,
}

/// Reads what is mounted and needed. Files that are not there hold nothing.
pub(crate) fn known(host: &Host, needs: Needs) -> Result<Known, MountedError> {
    let mut known = Known::default();
    if needs == Needs::Nothing {
        return Ok(known);
    }
    let set = |name| host.set(name).map(PathBuf::from);
    let named = |name| set(name).map(|path| Mounted { path, by: By::Variable });
    let usual = |folder: Option<PathBuf>, below: &str| {
        folder.map(|folder| Mounted { path: folder.join(below), by: By::Habit })
    };
    let config = named("HELM_CONFIG_HOME")
        .or_else(|| usual(set("XDG_CONFIG_HOME"), "helm"))
        .or_else(|| usual(set("HOME"), ".config/helm"));
    let of_helm = |name, file: &str| named(name).or_else(|| config.as_ref().map(|folder| folder.join(file)));
    if let Some(file) = of_helm("HELM_REPOSITORY_CONFIG", "repositories.yaml")
        && let Some(text) = file.read()?
    {
        let shape = || MountedError::Shape { path: file.path.clone(), writer: "helm" };
        if let Some(node) = read_document(&text).map_err(|_| shape())? {
            known.repositories = repositories(&node).ok_or_else(shape)?;
        }
    }
    if needs < Needs::RepositoriesAndLogins {
        return Ok(known);
    }
    let docker = named("DOCKER_CONFIG").or_else(|| usual(set("HOME"), ".docker"));
    let logins = [
        (of_helm("HELM_REGISTRY_CONFIG", "registry/config.json"), "helm"),
        (docker.map(|folder| folder.join("config.json")), "docker"),
    ];
    for (file, writer) in logins {
        if let Some(file) = file
            && let Some(text) = file.read()?
        {
            let shape = |_| MountedError::Shape { path: file.path.clone(), writer };
            add_logins(&mut known, &serde_json::from_slice(&text).map_err(shape)?);
        }
    }
    Ok(known)
}

/// Reads the certificates of a place.
pub(crate) fn read_certificates(remote: &mut Remote) -> Result<(), MountedError> {
    let PemFiles { authorities, certificate, key } = std::mem::take(&mut remote.files);
    let access = &mut remote.access;
    for (path, text) in [(authorities, &mut access.ca_data), (certificate, &mut access.tls_client_cert_data)]
    {
        if !path.is_empty() {
            *text = pem(path)?;
        }
    }
    if !key.is_empty() {
        access.tls_client_cert_key = Secret::new(pem(key)?);
    }
    Ok(())
}

/// The entries; `None` if the file has another shape. What is wrong would show what is in the file.
fn repositories(node: &Node) -> Option<Vec<KnownRepository>> {
    let mut file = Object::new(node, "").ok()?;
    file.list("repositories").ok()?.unwrap_or_default().iter().map(|entry| repository(entry).ok()).collect()
}

/// An entry of `repositories.yaml`.
fn repository(node: &Node) -> Result<KnownRepository, DecodeError> {
    let mut entry = Object::new(node, "")?;
    let all_hosts = entry.boolean("pass_credentials_all")?.unwrap_or_default();
    let insecure = entry.boolean("insecure_skip_tls_verify")?.unwrap_or_default();
    let mut text = |key| Ok(entry.text(key)?.unwrap_or_default().to_owned());
    Ok(KnownRepository {
        access: RepositoryAccess {
            url: text("url")?,
            name: text("name")?,
            kind: RepositoryKind::Helm,
            username: text("username")?,
            password: Secret::new(text("password")?),
            insecure,
            ..RepositoryAccess::default()
        },
        credentials: if all_hosts { Credentials::AllHosts } else { Credentials::OwnHost },
        files: PemFiles {
            authorities: text("caFile")?,
            certificate: text("certFile")?,
            key: text("keyFile")?,
        },
    })
}

fn pem(path: String) -> Result<String, MountedError> {
    let file = Mounted { path: path.into(), by: By::Variable };
    let missing = || MountedError::Read { path: file.path.clone(), source: io::ErrorKind::NotFound.into() };
    let bytes = file.read()?.ok_or_else(missing)?;
    String::from_utf8(bytes).map_err(|_| MountedError::Shape { path: file.path.clone(), writer: "openssl" })
}

/// Adds the logins of a registry configuration; those that are known already win.
fn add_logins(known: &mut Known, config: &Value) {
    let objects = |name: &str| config.get(name).and_then(Value::as_object).into_iter().flatten();
    for (host, login) in objects("auths") {
        // Docker leaves an empty entry where a helper has the login.
        if login.as_object().is_some_and(|login| !login.is_empty()) {
            known.logins.entry(host.clone()).or_insert_with(|| Secret::new(login.to_string()));
        }
    }
    for (host, helper) in objects("credHelpers") {
        if let Some(helper) = helper.as_str() {
            known.helpers.entry(host.clone()).or_insert_with(|| helper.to_owned());
        }
    }
    if known.helper.is_none() {
        known.helper = config.get("credsStore").and_then(Value::as_str).map(str::to_owned);
    }
}

impl Mounted {
    fn join(&self, below: &str) -> Self {
        Self { path: self.path.join(below), by: self.by }
    }

    fn read(&self) -> Result<Option<Vec<u8>>, MountedError> {
        let failed = |source| MountedError::Read { path: self.path.clone(), source };
        let too_large = || failed(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
        match read_bounded(&self.path, FILE_BYTES_MAX) {
            Ok(bytes) => bytes.ok_or_else(too_large).map(Some),
            Err(error) => self.by.absent(error).map_err(failed),
        }
    }
}

impl By {
    /// Nothing for an error that says that there is nothing for us.
    fn absent<T>(self, error: io::Error) -> io::Result<Option<T>> {
        match (error.kind(), self) {
            (io::ErrorKind::NotFound, _) | (io::ErrorKind::PermissionDenied, Self::Habit) => Ok(None),
            _ => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
