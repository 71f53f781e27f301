//! Archives by their digest, and which of them a chart's version is: `charts/archives` and `charts/names` below the cache's folder.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tiphys_tree::{Modes, Store, Tree, mark_used};

use super::artefact::{Artefact, Digest};
use super::hashed;
use super::unpacked::{Owner, Packed};
use crate::SourceError;
use crate::cache_files::{new_file, private_folder, write_whole};
use crate::options::SourceOptions;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes of a file of `charts/names`.
const NAME_BYTES_MAX: u64 = 64 * 1024;

pub(super) struct ArchiveCache {
    archives: PathBuf,
    names: PathBuf,
    /// Bytes of an archive.
    archive_bytes_max: u64,
}

/// Why something could not be taken in.
pub(super) enum IntakeError {
    /// The one who gives it failed.
    Read(io::Error),
    /// It has more bytes than it may.
    TooLarge,
    /// It is something else.
    Digest(Digest),
    /// The cache failed.
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

    /// What a chart was at the last look-up, if its archive is still there.
    pub(super) fn known(&self, key: &[&str]) -> Option<Artefact> {
        let mut text = Vec::new();
        File::open(self.name(key)).ok()?.take(NAME_BYTES_MAX).read_to_end(&mut text).ok()?;
        let artefact = Artefact::from_json(&serde_json::from_slice::<Value>(&text).ok()?)?;
        self.has(&artefact.digest).then_some(artefact)
    }

    /// Keeps in mind what a chart is.
    pub(super) fn remember(&self, key: &[&str], artefact: &Artefact) -> Result<(), SourceError> {
        private_folder(&self.names)?;
        write_whole(&self.name(key), &artefact.to_json().to_string())
    }

    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.archive(digest).is_file()
    }

    /// Takes an archive in, whole or not at all.
    pub(super) fn take_in(
        &self,
        from: &mut dyn Read,
        bytes_max: u64,
        expected: Option<&Digest>,
    ) -> Result<Digest, IntakeError> {
        private_folder(&self.archives).map_err(IntakeError::Cache)?;
        let failed = |error| IntakeError::Cache(SourceError::cache("write to", &self.archives)(error));
        let mut file = new_file(&self.archives).map_err(failed)?;
        let (mut hasher, mut left) = (Sha256::new(), bytes_max);
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(IntakeError::Read(error)),
            };
            left = left.checked_sub(u64::try_from(read).unwrap_or(u64::MAX)).ok_or(IntakeError::TooLarge)?;
            hasher.update(&chunk[..read]);
            file.write_all(&chunk[..read]).map_err(failed)?;
        }
        let digest = Digest::of(hasher);
        if expected.is_some_and(|expected| *expected != digest) {
            return Err(IntakeError::Digest(digest));
        }
        file.persist(self.archive(&digest)).map_err(|error| failed(error.error))?;
        Ok(digest)
    }

    /// The tree that an archive holds.
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
