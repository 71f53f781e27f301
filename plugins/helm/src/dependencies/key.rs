//! What a build of dependencies depends on, as one number: equal keys, equal dependencies.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_access::{CredentialReach, RegistryLogin};
use tiphys_tree::read_bounded;

use super::remote::{RemoteKind, RemoteRepository};

/// Goes into every key. It changes when the same inputs give other entries.
const SHAPE: &str = "tiphys-helm dependencies 2";

/// The chart's own files that a build reads.
const CHART_FILES: [&str; 4] = ["Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock"];

/// Bytes of one file that a build reads; helm takes no chart that has more.
const FILE_BYTES_MAX: u64 = 100 << 20;

/// Name of an entry of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BuildKey(String);

/// Everything that a key is made of.
#[derive(Debug)]
pub(crate) struct Inputs<'a> {
    /// Helm's version.
    pub(crate) helm: &'a str,
    /// The chart's folder.
    pub(crate) chart: &'a Path,
    /// Folders of dependencies, with all links followed.
    pub(crate) folders: &'a [PathBuf],
    /// Where the others come from.
    pub(crate) remotes: &'a [RemoteRepository],
}

impl BuildKey {
    /// As 64 hexadecimal digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Inputs<'_> {
    /// The key. The secret is the cache's own: who sees keys cannot try passwords on them. `None` if it cannot be told what a build depends
    /// on, because a folder has links to folders or cannot be read.
    pub(crate) fn key(&self, secret: &[u8; 32]) -> Option<BuildKey> {
        let mut hasher = Hasher(blake3::Hasher::new_keyed(secret));
        hasher.part(SHAPE.as_bytes());
        hasher.part(self.helm.as_bytes());
        for name in CHART_FILES {
            hasher.file(&self.chart.join(name)).ok()?;
        }
        hasher.folder(&self.chart.join("charts"))?;
        hasher.number(self.folders.len());
        for folder in self.folders {
            hasher.folder(folder)?;
        }
        hasher.number(self.remotes.len());
        for remote in self.remotes {
            hasher.remote(remote);
        }
        Some(BuildKey(hasher.0.finalize().to_hex().to_string()))
    }
}

/// Parts with their lengths, and things of the file system with their kinds, so that no two lists of them are one text.
struct Hasher(blake3::Hasher);

/// What is under a name.
#[derive(Clone, Copy)]
enum Kind {
    Absent = 0,
    File = 1,
    Folder = 2,
}

impl Hasher {
    fn part(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.update(bytes);
    }

    fn number(&mut self, number: usize) {
        self.0.update(&(number as u64).to_le_bytes());
    }

    fn kind(&mut self, kind: Kind) {
        self.0.update(&[kind as u8]);
    }

    /// A file, or that there is none.
    fn file(&mut self, path: &Path) -> io::Result<()> {
        let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
        let read = || read_bounded(path, FILE_BYTES_MAX)?.ok_or_else(too_large);
        match read() {
            Ok(bytes) => {
                self.kind(Kind::File);
                self.part(&bytes);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.kind(Kind::Absent);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// A folder with everything in it, or that there is none.
    fn folder(&mut self, folder: &Path) -> Option<()> {
        let read = match fs::read_dir(folder) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.kind(Kind::Absent);
                return Some(());
            }
            Err(_) => return None,
        };
        let mut entries = read.collect::<io::Result<Vec<_>>>().ok()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        self.kind(Kind::Folder);
        self.number(entries.len());
        for entry in entries {
            self.part(entry.file_name().as_encoded_bytes());
            // Of a link to a file it counts what helm reads. Links to folders could lead back.
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                self.folder(&entry.path())?;
            } else if kind.is_symlink() && entry.path().is_dir() {
                return None;
            } else {
                self.file(&entry.path()).ok()?;
            }
        }
        Some(())
    }

    /// A place, and what opens it: another user may see less there.
    fn remote(&mut self, remote: &RemoteRepository) {
        let access = &remote.access;
        let texts = [
            remote.address.expose(),
            &remote.name,
            &access.username,
            access.password.expose(),
            &access.ca_data,
            &access.tls_client_cert_data,
            access.tls_client_cert_key.expose(),
            access.proxy.expose(),
            &access.no_proxy,
        ];
        for text in texts {
            self.part(text.as_bytes());
        }
        self.login(&remote.login);
        let kind = match remote.kind {
            RemoteKind::Web => 0,
            RemoteKind::Registry => 1,
            RemoteKind::Plugin => 2,
        };
        self.number(kind);
        let marks = [
            remote.credentials == CredentialReach::EveryServer,
            access.insecure,
            access.insecure_oci_force_http,
        ];
        self.part(&marks.map(u8::from));
    }

    /// What opens a registry. What a helper answers is not known here, so what counts if it knows no login is part of it, too.
    fn login(&mut self, login: &RegistryLogin) {
        let (kind, text) = match login {
            RegistryLogin::None => (0, ""),
            RegistryLogin::Entry(entry) => (1, entry.json.expose()),
            RegistryLogin::Helper { name, .. } => (2, name.as_str()),
        };
        self.number(kind);
        self.part(text.as_bytes());
        if let RegistryLogin::Helper { otherwise, .. } = login {
            self.login(otherwise);
        }
    }
}

#[cfg(test)]
mod tests;
