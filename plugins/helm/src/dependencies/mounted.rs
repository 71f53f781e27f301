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

use tiphys_params::context::{MountedLogins, OtherShape, PemFiles, Secret};
use tiphys_tree::read_bounded;

use super::remote::Remote;
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
pub(crate) fn logins(host: &Host, needs: Needs) -> Result<MountedLogins, MountedError> {
    let mut mounted = MountedLogins::default();
    if needs == Needs::Nothing {
        return Ok(mounted);
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
    let docker = named("DOCKER_CONFIG").or_else(|| usual(set("HOME"), ".docker"));
    if let Some(file) = of_helm("HELM_REPOSITORY_CONFIG", "repositories.yaml") {
        file.add("helm", |text| mounted.add_repositories(text))?;
    }
    if needs < Needs::RepositoriesAndLogins {
        return Ok(mounted);
    }
    if let Some(file) = of_helm("HELM_REGISTRY_CONFIG", "registry/config.json") {
        file.add("helm", |text| mounted.add_logins(text))?;
    }
    if let Some(file) = docker.map(|folder| folder.join("config.json")) {
        file.add("docker", |text| mounted.add_logins(text))?;
    }
    Ok(mounted)
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

fn pem(path: String) -> Result<String, MountedError> {
    let file = Mounted { path: path.into(), by: By::Variable };
    let missing = || MountedError::Read { path: file.path.clone(), source: io::ErrorKind::NotFound.into() };
    let bytes = file.read()?.ok_or_else(missing)?;
    String::from_utf8(bytes).map_err(|_| MountedError::Shape { path: file.path.clone(), writer: "openssl" })
}

impl Mounted {
    fn join(&self, below: &str) -> Self {
        Self { path: self.path.join(below), by: self.by }
    }

    /// Adds what the file says, if it is there.
    fn add(
        &self,
        writer: &'static str,
        add: impl FnOnce(&[u8]) -> Result<(), OtherShape>,
    ) -> Result<(), MountedError> {
        let shape = |_| MountedError::Shape { path: self.path.clone(), writer };
        self.read()?.map_or(Ok(()), |text| add(&text).map_err(shape))
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
