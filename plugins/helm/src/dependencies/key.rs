//! The cache key of a build: builds with equal keys produce equal dependencies.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_model::access::{CredentialReach, RegistryLogin};
use tiphys_tree::read_bounded;

use super::remote::{RemoteKind, RemoteRepository};

/// Part of every key. Changed when the same inputs produce different entries.
const FORMAT: &str = "tiphys-helm dependencies 2";

/// The chart's files that a build reads.
const CHART_FILES: [&str; 4] = ["Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock"];

/// Maximum bytes of one file that a build reads: helm's limit of a chart.
const FILE_BYTES_MAX: u64 = 100 << 20;

/// Name of a cache entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BuildKey(String);

/// Everything that a key depends on.
#[derive(Debug)]
pub(crate) struct Inputs<'a> {
    /// Helm's version.
    pub(crate) helm: &'a str,
    pub(crate) chart: &'a Path,
    /// Directories and archives of dependencies, with all links resolved.
    pub(crate) local: &'a [PathBuf],
    /// Repositories of the other dependencies.
    pub(crate) remotes: &'a [RemoteRepository],
}

impl BuildKey {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Inputs<'_> {
    /// Returns the key. The secret of the cache prevents guessing passwords from keys. `None` if the inputs are unknown, because a
    /// directory has links to directories or cannot be read.
    pub(crate) fn key(&self, secret: &[u8; 32]) -> Option<BuildKey> {
        let mut hasher = Hasher(blake3::Hasher::new_keyed(secret));
        hasher.part(FORMAT.as_bytes());
        hasher.part(self.helm.as_bytes());
        for name in CHART_FILES {
            hasher.file(&self.chart.join(name)).ok()?;
        }
        hasher.folder(&self.chart.join("charts"))?;
        hasher.number(self.local.len());
        for path in self.local {
            if path.is_file() {
                hasher.file(path).ok()?;
            } else {
                hasher.folder(path)?;
            }
        }
        hasher.number(self.remotes.len());
        for remote in self.remotes {
            hasher.remote(remote);
        }
        Some(BuildKey(hasher.0.finalize().to_hex().to_string()))
    }
}

/// Hashes parts with their lengths, and directory entries with their types, so that different inputs never hash the same bytes.
struct Hasher(blake3::Hasher);

#[derive(Clone, Copy)]
enum EntryType {
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

    fn kind(&mut self, kind: EntryType) {
        self.0.update(&[kind as u8]);
    }

    /// Adds a file, or its absence.
    fn file(&mut self, path: &Path) -> io::Result<()> {
        let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
        let read = || read_bounded(path, FILE_BYTES_MAX)?.ok_or_else(too_large);
        match read() {
            Ok(bytes) => {
                self.kind(EntryType::File);
                self.part(&bytes);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.kind(EntryType::Absent);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Adds a directory recursively, or its absence.
    fn folder(&mut self, folder: &Path) -> Option<()> {
        let read = match fs::read_dir(folder) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.kind(EntryType::Absent);
                return Some(());
            }
            Err(_) => return None,
        };
        let mut entries = read.collect::<io::Result<Vec<_>>>().ok()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        self.kind(EntryType::Folder);
        self.number(entries.len());
        for entry in entries {
            self.part(entry.file_name().as_encoded_bytes());
            // For a link to a file, the content counts. Links to directories could be circular.
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

    /// Adds an address and its credentials: another user may see less there.
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

    /// Adds a registry's credentials. A helper's answer is unknown here, so the alternative without an answer is added, too.
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
