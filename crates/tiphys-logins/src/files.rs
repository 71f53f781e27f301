//! Repositories and credentials in the files of Helm and Docker.
//!
//! | file | first of |
//! |---|---|
//! | `repositories.yaml` | `HELM_REPOSITORY_CONFIG`, `HELM_CONFIG_HOME`, `XDG_CONFIG_HOME/helm`, `HOME/.config/helm` |
//! | `registry/config.json` | `HELM_REGISTRY_CONFIG`, and as above |
//! | Docker's `config.json` | `DOCKER_CONFIG`, `HOME/.docker` |
//!
//! Files that are not needed are not read, so that they cannot cause errors: neither credentials if no registry is used, nor certificates
//! of other repositories. A file at a default path that this user may not read is ignored; a file that a variable names must be readable.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tiphys_model::access::{MountedLogins, OtherShape, PemFiles, RepositoryAccess, Secret};
use tiphys_tree::{FileOwner, NotOpened, open_file, read_to_bound};

use crate::OwnLogins;

/// Maximum size of a file in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// An unusable file. The message does not quote its content.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {path}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The path is a pipe, a device or a directory.
    #[error("{path} is not a regular file; replace it with one, or set {setting} to another path", path = path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
        /// The variable or setting that has the path.
        setting: &'static str,
    },
    /// The path is relative, so it would be in the directory of the application, where others may have put the file.
    #[error("{name} is {path:?}; expected an absolute path")]
    Relative {
        /// The variable or setting that has the path.
        name: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The file has an unexpected structure.
    #[error(
        "{path} does not have the structure of {writer}'s file; check its {}",
        field.map_or_else(|| "syntax".to_owned(), |field| format!("field {field}")),
        path = path.display()
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// The program that writes such files.
        writer: &'static str,
        /// The invalid field; `None` for the whole file.
        field: Option<&'static str>,
    },
}

/// The required content of these files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needs {
    /// Nothing, because nothing is fetched.
    Nothing,
    /// Helm repositories.
    Repositories,
    /// Helm repositories and credentials for registries.
    RepositoriesAndLogins,
}

/// A kind of file, as named in messages.
#[derive(Clone, Copy, Debug)]
struct FileKind {
    /// The program that writes such files.
    writer: &'static str,
    /// The variable or setting that changes its path.
    setting: &'static str,
}

const HELM_REPOSITORIES: FileKind = FileKind { writer: "helm", setting: "HELM_REPOSITORY_CONFIG" };
const HELM_LOGINS: FileKind = FileKind { writer: "helm", setting: "HELM_REGISTRY_CONFIG" };
const DOCKER_LOGINS: FileKind = FileKind { writer: "docker", setting: "DOCKER_CONFIG" };

/// A file with the origin of its path.
#[derive(Clone, Debug)]
struct Mounted {
    path: PathBuf,
    by: Origin,
}

/// The origin of a file's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// A variable for this purpose only.
    Variable,
    /// A default path.
    Default,
}

impl OwnLogins {
    /// Reads the required files. Missing files have no content.
    pub fn read(&self, needs: Needs) -> Result<MountedLogins, FileError> {
        let mut logins = MountedLogins::default();
        if needs == Needs::Nothing {
            return Ok(logins);
        }
        let helm_file = |name, file: &str| {
            let own = self.path(name, "", Origin::Variable)?;
            Ok(if own.is_some() { own } else { self.helm_config()?.map(|folder| folder.join(file)) })
        };
        if let Some(file) = helm_file(HELM_REPOSITORIES.setting, "repositories.yaml")? {
            file.add(HELM_REPOSITORIES, |text, _| logins.add_repositories(text))?;
        }
        if needs < Needs::RepositoriesAndLogins {
            return Ok(logins);
        }
        if let Some(file) = helm_file(HELM_LOGINS.setting, "registry/config.json")? {
            file.add(HELM_LOGINS, |text, file| logins.add_logins(file, text))?;
        }
        let docker = [(DOCKER_LOGINS.setting, "", Origin::Variable), ("HOME", ".docker", Origin::Default)];
        if let Some(folder) = self.first_path(&docker)? {
            folder.join("config.json").add(DOCKER_LOGINS, |text, file| logins.add_logins(file, text))?;
        }
        Ok(logins)
    }

    fn helm_config(&self) -> Result<Option<Mounted>, FileError> {
        self.first_path(&[
            ("HELM_CONFIG_HOME", "", Origin::Variable),
            ("XDG_CONFIG_HOME", "helm", Origin::Default),
            ("HOME", ".config/helm", Origin::Default),
        ])
    }

    /// Returns the first path whose variable is set. Each base is a variable and a path relative to its value.
    fn first_path(&self, bases: &[(&'static str, &str, Origin)]) -> Result<Option<Mounted>, FileError> {
        let found = bases.iter().find_map(|(name, below, by)| self.path(name, below, *by).transpose());
        found.transpose()
    }

    /// Returns a path relative to the value of a variable; `None` if the variable is not set.
    fn path(&self, name: &'static str, below: &str, by: Origin) -> Result<Option<Mounted>, FileError> {
        let Some(folder) = self.set(name) else { return Ok(None) };
        let mounted = Mounted { path: absolute(name, folder)?, by };
        Ok(Some(if below.is_empty() { mounted } else { mounted.join(below) }))
    }
}

/// Reads the certificates for a repository that is accessed.
pub fn read_certificates(files: PemFiles, access: &mut RepositoryAccess) -> Result<(), FileError> {
    let PemFiles { authorities, certificate, key } = files;
    let texts = [
        ("caFile", authorities, &mut access.ca_data),
        ("certFile", certificate, &mut access.tls_client_cert_data),
    ];
    for (name, path, text) in texts {
        if !path.is_empty() {
            *text = pem(name, &path)?;
        }
    }
    if !key.is_empty() {
        access.tls_client_cert_key = Secret::new(pem("keyFile", &key)?);
    }
    Ok(())
}

/// Returns an absolute path. A relative one would be in the working directory, which is the application's directory.
fn absolute(name: &'static str, path: &str) -> Result<PathBuf, FileError> {
    let path = PathBuf::from(path);
    if path.is_absolute() { Ok(path) } else { Err(FileError::Relative { name, path }) }
}

fn pem(name: &'static str, path: &str) -> Result<String, FileError> {
    let kind = FileKind { writer: "openssl", setting: name };
    let file = Mounted { path: absolute(name, path)?, by: Origin::Variable };
    let missing = || FileError::Read { path: file.path.clone(), source: io::ErrorKind::NotFound.into() };
    let bytes = file.read(kind)?.ok_or_else(missing)?;
    String::from_utf8(bytes).map_err(|_| FileError::Shape {
        path: file.path.clone(),
        writer: kind.writer,
        field: None,
    })
}

impl Mounted {
    fn join(&self, below: &str) -> Self {
        Self { path: self.path.join(below), by: self.by }
    }

    /// Adds the content of the file, if it exists.
    fn add(
        &self,
        kind: FileKind,
        add: impl FnOnce(&[u8], &str) -> Result<(), OtherShape>,
    ) -> Result<(), FileError> {
        let shape =
            |OtherShape { field }| FileError::Shape { path: self.path.clone(), writer: kind.writer, field };
        let file = self.path.to_string_lossy();
        self.read(kind)?.map_or(Ok(()), |text| add(&text, &file).map_err(shape))
    }

    fn read(&self, kind: FileKind) -> Result<Option<Vec<u8>>, FileError> {
        let failed = |source| FileError::Read { path: self.path.clone(), source };
        let too_large = || failed(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
        match open_file(&self.path, FileOwner::Anybody, File::options().read(true)) {
            Ok(file) => read_to_bound(file, FILE_BYTES_MAX).map_err(failed)?.ok_or_else(too_large).map(Some),
            Err(NotOpened::Io(error)) => self.by.none_if_unavailable(error).map_err(failed),
            Err(NotOpened::Folder | NotOpened::NoFile) => {
                Err(FileError::NoFile { path: self.path.clone(), setting: kind.setting })
            }
        }
    }
}

impl Origin {
    /// Returns `None` for an error that means that the file is missing or not for this user.
    fn none_if_unavailable<T>(self, error: io::Error) -> io::Result<Option<T>> {
        match (error.kind(), self) {
            (io::ErrorKind::NotFound, _) | (io::ErrorKind::PermissionDenied, Self::Default) => Ok(None),
            _ => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
