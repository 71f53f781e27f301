//! Repositories and logins in the files that helm and docker write.
//!
//! | file | first found of |
//! |---|---|
//! | `repositories.yaml` | `HELM_REPOSITORY_CONFIG`, `HELM_CONFIG_HOME`, `XDG_CONFIG_HOME/helm`, `HOME/.config/helm` |
//! | `registry/config.json` | `HELM_REGISTRY_CONFIG`, and as above |
//! | docker's `config.json` | `DOCKER_CONFIG`, `HOME/.docker` |
//!
//! What nobody needs is not read, so that it cannot be in the way: neither logins where there is no registry, nor certificates of other
//! repositories. A usual place that is closed to this user holds nothing; a file that a variable of its own names must be readable.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tiphys_access::{MountedLogins, OtherShape, PemFiles, RepositoryAccess, Secret};
use tiphys_tree::{FileOwner, NotOpened, open_file, read_to_bound};

use crate::OwnLogins;

/// Bytes of one of these files.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A file that cannot be used. Nothing of its content is in the text.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {path}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A pipe, a device or a folder stands there.
    #[error("{path} is no regular file; put one there, or name another place in {setting}", path = path.display())]
    NoFile {
        /// What should be a file.
        path: PathBuf,
        /// The variable, or what else says where it is.
        setting: &'static str,
    },
    /// It is in the folder of whatever is rendered, where anybody may have put it.
    #[error("{name} is {path:?}; an absolute path is expected")]
    Relative {
        /// The variable, or what else says where it is.
        name: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// It is something else.
    #[error(
        "{path} is not what {writer} writes; look at its {}",
        field.map_or_else(|| "syntax".to_owned(), |field| format!("field {field}")),
        path = path.display()
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// Who writes such files.
        writer: &'static str,
        /// The field that is something else; `None` for the whole.
        field: Option<&'static str>,
    },
}

/// What of these files is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needs {
    /// Nothing: nothing is fetched.
    Nothing,
    /// Repositories.
    Repositories,
    /// Repositories, and logins to registries.
    RepositoriesAndLogins,
}

/// A kind of file, and what people know of it.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// Who writes such files.
    writer: &'static str,
    /// What says that one is elsewhere.
    setting: &'static str,
}

const HELM_REPOSITORIES: Kind = Kind { writer: "helm", setting: "HELM_REPOSITORY_CONFIG" };
const HELM_LOGINS: Kind = Kind { writer: "helm", setting: "HELM_REGISTRY_CONFIG" };
const DOCKER_LOGINS: Kind = Kind { writer: "docker", setting: "DOCKER_CONFIG" };

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

impl OwnLogins {
    /// Reads what is needed. Files that are not there hold nothing.
    pub fn read(&self, needs: Needs) -> Result<MountedLogins, FileError> {
        let mut logins = MountedLogins::default();
        if needs == Needs::Nothing {
            return Ok(logins);
        }
        let of_helm = |name, file: &str| {
            let own = self.place(name, "", By::Variable)?;
            Ok(if own.is_some() { own } else { self.config_of_helm()?.map(|folder| folder.join(file)) })
        };
        if let Some(file) = of_helm(HELM_REPOSITORIES.setting, "repositories.yaml")? {
            file.add(HELM_REPOSITORIES, |text, _| logins.add_repositories(text))?;
        }
        if needs < Needs::RepositoriesAndLogins {
            return Ok(logins);
        }
        if let Some(file) = of_helm(HELM_LOGINS.setting, "registry/config.json")? {
            file.add(HELM_LOGINS, |text, file| logins.add_logins(file, text))?;
        }
        let docker = [(DOCKER_LOGINS.setting, "", By::Variable), ("HOME", ".docker", By::Habit)];
        if let Some(folder) = self.first_place(&docker)? {
            folder.join("config.json").add(DOCKER_LOGINS, |text, file| logins.add_logins(file, text))?;
        }
        Ok(logins)
    }

    fn config_of_helm(&self) -> Result<Option<Mounted>, FileError> {
        self.first_place(&[
            ("HELM_CONFIG_HOME", "", By::Variable),
            ("XDG_CONFIG_HOME", "helm", By::Habit),
            ("HOME", ".config/helm", By::Habit),
        ])
    }

    /// The first that there is of some places, each a variable and a path below.
    fn first_place(&self, places: &[(&'static str, &str, By)]) -> Result<Option<Mounted>, FileError> {
        let found = places.iter().find_map(|(name, below, by)| self.place(name, below, *by).transpose());
        found.transpose()
    }

    /// What is below the path that a variable names.
    fn place(&self, name: &'static str, below: &str, by: By) -> Result<Option<Mounted>, FileError> {
        let Some(folder) = self.set(name) else { return Ok(None) };
        let mounted = Mounted { path: absolute(name, folder)?, by };
        Ok(Some(if below.is_empty() { mounted } else { mounted.join(below) }))
    }
}

/// Reads the certificates of a repository that is fetched from.
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

/// A path that does not lead into the working directory, which is the application's folder.
fn absolute(name: &'static str, path: &str) -> Result<PathBuf, FileError> {
    let path = PathBuf::from(path);
    if path.is_absolute() { Ok(path) } else { Err(FileError::Relative { name, path }) }
}

fn pem(name: &'static str, path: &str) -> Result<String, FileError> {
    let kind = Kind { writer: "openssl", setting: name };
    let file = Mounted { path: absolute(name, path)?, by: By::Variable };
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

    /// Adds what the file says, if it is there.
    fn add(
        &self,
        kind: Kind,
        add: impl FnOnce(&[u8], &str) -> Result<(), OtherShape>,
    ) -> Result<(), FileError> {
        let shape =
            |OtherShape { field }| FileError::Shape { path: self.path.clone(), writer: kind.writer, field };
        let file = self.path.to_string_lossy();
        self.read(kind)?.map_or(Ok(()), |text| add(&text, &file).map_err(shape))
    }

    fn read(&self, kind: Kind) -> Result<Option<Vec<u8>>, FileError> {
        let failed = |source| FileError::Read { path: self.path.clone(), source };
        let too_large = || failed(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
        match open_file(&self.path, FileOwner::Anybody, File::options().read(true)) {
            Ok(file) => read_to_bound(file, FILE_BYTES_MAX).map_err(failed)?.ok_or_else(too_large).map(Some),
            Err(NotOpened::Io(error)) => self.by.absent(error).map_err(failed),
            Err(NotOpened::Folder | NotOpened::NoFile) => {
                Err(FileError::NoFile { path: self.path.clone(), setting: kind.setting })
            }
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
