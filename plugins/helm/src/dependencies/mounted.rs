//! Repositories and logins in the files that helm and docker write. They take the place of a run context where there is none, and fill in
//! what it does not know where it says that they may: it says so for a person, and not for a server.
//!
//! | file | first found of |
//! |---|---|
//! | `repositories.yaml` | `HELM_REPOSITORY_CONFIG`, `HELM_CONFIG_HOME`, `XDG_CONFIG_HOME/helm`, `HOME/.config/helm` |
//! | `registry/config.json` | `HELM_REGISTRY_CONFIG`, and as above |
//! | docker's `config.json` | `DOCKER_CONFIG`, `HOME/.docker` |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tiphys_params::context::{RepositoryAccess, RepositoryKind, Secret};
use tiphys_yaml::{DecodeError, Node, Object, read_document};

use super::remote::{Known, KnownRepository};
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

/// Reads what is mounted. Files that are not there hold nothing.
pub(crate) fn known(host: &Host) -> Result<Known, MountedError> {
    let mut known = Known::default();
    let variable = |name| host.set(name).map(PathBuf::from);
    let home = variable("HOME");
    let config = variable("HELM_CONFIG_HOME")
        .or_else(|| variable("XDG_CONFIG_HOME").map(|folder| folder.join("helm")))
        .or_else(|| home.as_ref().map(|home| home.join(".config/helm")));
    let of_helm =
        |name, file: &str| variable(name).or_else(|| config.as_ref().map(|folder| folder.join(file)));
    if let Some(path) = of_helm("HELM_REPOSITORY_CONFIG", "repositories.yaml")
        && let Some(text) = read(&path)?
    {
        let shape = || MountedError::Shape { path: path.clone(), writer: "helm" };
        if let Some(node) = read_document(&text).map_err(|_| shape())? {
            known.repositories = repositories(&node)?.ok_or_else(shape)?;
        }
    }
    let docker = variable("DOCKER_CONFIG").or_else(|| home.as_ref().map(|home| home.join(".docker")));
    let logins = [
        (of_helm("HELM_REGISTRY_CONFIG", "registry/config.json"), "helm"),
        (docker.map(|folder| folder.join("config.json")), "docker"),
    ];
    for (path, writer) in logins {
        if let Some(path) = path
            && let Some(text) = read(&path)?
        {
            let shape = |_| MountedError::Shape { path: path.clone(), writer };
            add_logins(&mut known, &serde_json::from_slice(&text).map_err(shape)?);
        }
    }
    Ok(known)
}

/// The entries; `None` if the file has another shape.
fn repositories(node: &Node) -> Result<Option<Vec<KnownRepository>>, MountedError> {
    let decode = || -> Result<Vec<Entry>, DecodeError> {
        let mut file = Object::new(node, "")?;
        file.list("repositories")?.unwrap_or_default().iter().map(Entry::decode).collect()
    };
    match decode() {
        Ok(entries) => entries.into_iter().map(Entry::known).collect::<Result<_, _>>().map(Some),
        // Its text might show what is in the file.
        Err(_) => Ok(None),
    }
}

/// An entry of `repositories.yaml`.
struct Entry {
    access: RepositoryAccess,
    credentials: Credentials,
    ca_file: String,
    cert_file: String,
    key_file: String,
}

impl Entry {
    fn decode(node: &Node) -> Result<Self, DecodeError> {
        let mut entry = Object::new(node, "")?;
        let all_hosts = entry.boolean("pass_credentials_all")?.unwrap_or_default();
        let insecure = entry.boolean("insecure_skip_tls_verify")?.unwrap_or_default();
        let mut text = |key| Ok(entry.text(key)?.unwrap_or_default().to_owned());
        Ok(Self {
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
            ca_file: text("caFile")?,
            cert_file: text("certFile")?,
            key_file: text("keyFile")?,
        })
    }

    fn known(mut self) -> Result<KnownRepository, MountedError> {
        self.access.ca_data = pem(&self.ca_file)?;
        self.access.tls_client_cert_data = pem(&self.cert_file)?;
        self.access.tls_client_cert_key = Secret::new(pem(&self.key_file)?);
        Ok(KnownRepository { access: self.access, credentials: self.credentials })
    }
}

fn pem(path: &str) -> Result<String, MountedError> {
    if path.is_empty() {
        return Ok(String::new());
    }
    let path = PathBuf::from(path);
    let missing = || MountedError::Read { path: path.clone(), source: io::ErrorKind::NotFound.into() };
    let bytes = read(&path)?.ok_or_else(missing)?;
    String::from_utf8(bytes).map_err(|_| MountedError::Shape { path: path.clone(), writer: "openssl" })
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

fn read(path: &Path) -> Result<Option<Vec<u8>>, MountedError> {
    let failed = |source| MountedError::Read { path: path.to_path_buf(), source };
    match fs::metadata(path) {
        Ok(found) if found.len() > FILE_BYTES_MAX => {
            Err(failed(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes"))))
        }
        Ok(_) => fs::read(path).map(Some).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests;
