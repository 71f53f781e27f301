//! The cache of archives, by digest, and of the archive of each chart version: `charts/archives` and `charts/names` in the cache
//! directory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tiphys_http::{HttpError, Response};
use tiphys_tree::{FileOwner, Modes, Store, Tree, mark_used, open_file, read_to_bound, unless_gone};
use tokio::io::AsyncWriteExt as _;

use super::artefact::{Artefact, Digest};
use super::hashed;
use super::unpacked::{Owner, Packed};
use crate::SourceError;
use crate::cache_files::{new_file, private_folder, write_whole};
use crate::options::SourceOptions;
use crate::sources::blocking;

/// Maximum size of a file in `charts/names`, in bytes.
const NAME_BYTES_MAX: u64 = 64 * 1024;

#[derive(Clone)]
pub(super) struct ArchiveCache {
    archives: PathBuf,
    names: PathBuf,
    /// Maximum size of an archive, in bytes.
    archive_bytes_max: u64,
}

/// An archive that could not be stored.
pub(super) enum StoreArchiveError {
    /// The download failed.
    Http(HttpError),
    /// The archive has more than `max` bytes.
    TooLarge { max: u64 },
    /// The archive has another digest than the expected one.
    Digest { found: Digest, expected: Digest },
    /// The cache directory could not be written.
    Cache(SourceError),
}

impl ArchiveCache {
    pub(super) fn new(options: &SourceOptions) -> Self {
        let dir = options.cache_dir.join("charts");
        Self {
            archives: dir.join("archives"),
            names: dir.join("names"),
            archive_bytes_max: options.chart_limits.archive_bytes_max,
        }
    }

    /// The artefact that was remembered for a key, if its archive still exists.
    pub(super) async fn known(&self, key: &[&str]) -> Option<Artefact> {
        let (cache, name) = (self.clone(), self.name(key));
        let read = move || {
            let artefact = cache.read_name(&name);
            mark_used(&name);
            Ok(artefact)
        };
        blocking(read).await.ok().flatten()
    }

    /// Like [`Self::known`], for a key whose artefact changes: `None` if it was looked up longer ago.
    pub(super) async fn looked_up(&self, key: &[&str], age_max: Duration) -> Option<Artefact> {
        let (cache, name) = (self.clone(), self.name(key));
        let read = move || {
            let age = fs::metadata(&name).ok()?.modified().ok()?.elapsed().unwrap_or_default();
            if age < age_max { cache.read_name(&name) } else { None }
        };
        blocking(move || Ok(read())).await.ok().flatten()
    }

    fn read_name(&self, name: &Path) -> Option<Artefact> {
        let file = open_file(name, FileOwner::Repository, File::options().read(true)).ok()?;
        let text = read_to_bound(file, NAME_BYTES_MAX).ok()??;
        let artefact = Artefact::from_json(&serde_json::from_slice::<Value>(&text).ok()?)?;
        self.archive(&artefact.digest).is_file().then_some(artefact)
    }

    /// Remembers the artefact of a key.
    pub(super) async fn remember(&self, key: &[&str], artefact: &Artefact) -> Result<(), SourceError> {
        let (names, name, text) = (self.names.clone(), self.name(key), artefact.to_json().to_string());
        blocking(move || {
            private_folder(&names)?;
            write_whole(&name, &text)
        })
        .await
    }

    /// Stores the body of a response as an archive. The file appears when it is complete.
    pub(super) async fn store(
        &self,
        mut response: Response,
        expected: Option<&Digest>,
    ) -> Result<Digest, StoreArchiveError> {
        let dir = self.archives.clone();
        let failed = |error| StoreArchiveError::Cache(SourceError::cache("write to", &self.archives)(error));
        let new = blocking(move || {
            private_folder(&dir)?;
            let open = || -> io::Result<_> {
                let file = new_file(&dir)?;
                let writer = file.as_file().try_clone()?;
                Ok((file, writer))
            };
            open().map_err(SourceError::cache("write to", &dir))
        });
        let (file, writer) = new.await.map_err(StoreArchiveError::Cache)?;
        let mut writer = tokio::fs::File::from_std(writer);
        let (mut hasher, mut left) = (Sha256::new(), self.archive_bytes_max);
        while let Some(chunk) = response.chunk().await.map_err(StoreArchiveError::Http)? {
            let size = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
            left =
                left.checked_sub(size).ok_or(StoreArchiveError::TooLarge { max: self.archive_bytes_max })?;
            hasher.update(&chunk);
            writer.write_all(&chunk).await.map_err(failed)?;
        }
        writer.flush().await.map_err(failed)?;
        let found = Digest::of(hasher);
        if let Some(expected) = expected.filter(|expected| **expected != found) {
            return Err(StoreArchiveError::Digest { found, expected: expected.clone() });
        }
        file.persist(self.archive(&found)).map_err(|error| failed(error.error))?;
        Ok(found)
    }

    /// Reads an archive. One that was changed or removed meanwhile is removed, and `None`.
    pub(super) fn read(&self, artefact: &Artefact) -> Result<Option<Vec<u8>>, SourceError> {
        let path = self.archive(&artefact.digest);
        mark_used(&path);
        let read = || -> io::Result<Option<Vec<u8>>> {
            let file = open_file(&path, FileOwner::Repository, File::options().read(true))?;
            let bytes = read_to_bound(file, self.archive_bytes_max)?;
            Ok(bytes.filter(|bytes| Digest::of_bytes(bytes) == artefact.digest))
        };
        let bytes = unless_gone(read()).map_err(SourceError::cache("read", &path))?.flatten();
        if bytes.is_none() {
            unless_gone(fs::remove_file(&path)).map_err(SourceError::cache("remove", &path))?;
        }
        Ok(bytes)
    }

    /// The tree in an archive.
    pub(super) fn tree(&self, store: &Store, artefact: &Artefact, modes: Modes) -> Result<Tree, SourceError> {
        mark_used(&self.archive(&artefact.digest));
        let packed = Packed { path: &self.archive(&artefact.digest), artefact, owner: Owner::Cache };
        packed.tree(store, self.archive_bytes_max, modes)
    }

    fn archive(&self, digest: &Digest) -> PathBuf {
        self.archives.join(digest.digits())
    }

    fn name(&self, key: &[&str]) -> PathBuf {
        self.names.join(hashed(key.iter().copied()))
    }
}
