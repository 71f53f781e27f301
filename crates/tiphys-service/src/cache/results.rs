//! Results of applications in the cache directory.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Once;

use tiphys_render::{ResultKey, ResultStore};
use tiphys_tree::{FileOwner, is_trusted_owner, mark_used, open_file, read_to_bound};

/// Changed when files of other versions must not be read.
const DOMAIN: &str = "tiphys 2026-11 kept result";

/// Maximum bytes of a kept result.
const RESULT_BYTES_MAX: u64 = 256 << 20;

/// Mode bits that give group and others access to a file.
const OPEN_TO_OTHERS: u32 = 0o077;

/// Mode bits that permit group and others to put files into a directory.
const WRITABLE_FOR_OTHERS: u32 = 0o022;

/// Bytes of the checksum at the beginning of a file.
const CHECKSUM_BYTES: usize = 32;

/// Results as files of the user alone, named by their keys. A file that is damaged, belongs to another key or is open to others is no
/// result.
#[derive(Debug)]
pub(crate) struct ResultFiles {
    dir: PathBuf,
    /// Whether the user was told that nothing can be kept.
    told: Once,
}

impl ResultFiles {
    /// Returns the results in a directory, which need not exist.
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, told: Once::new() }
    }

    fn write(&self, key: &ResultKey, result: &[u8]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        // Of the form of an entry's name, so that the file of a killed process is removed like an unused entry.
        let mut file = tempfile::Builder::new().prefix(&format!("{key}.")).tempfile_in(&self.dir)?;
        file.write_all(&checksum(key, result))?;
        file.write_all(result)?;
        file.persist(self.dir.join(key.to_string())).map_err(|error| error.error)?;
        Ok(())
    }
}

impl ResultStore for ResultFiles {
    fn get(&self, key: &ResultKey) -> Option<Vec<u8>> {
        let path = self.dir.join(key.to_string());
        let mut content = read_private(&path).filter(|_| is_private(&self.dir))?;
        let result = content.split_off(content.len().min(CHECKSUM_BYTES));
        if content != checksum(key, &result) {
            tracing::debug!(path = %path.display(), "a damaged result is not used");
            return None;
        }
        mark_used(&path);
        Some(result)
    }

    fn put(&self, key: &ResultKey, result: &[u8]) {
        if u64::try_from(result.len()).unwrap_or(u64::MAX) > RESULT_BYTES_MAX {
            return;
        }
        if let Err(error) = self.write(key, result) {
            self.told.call_once(|| {
                tracing::warn!("{}: results cannot be kept: {error}", self.dir.display());
            });
        }
    }
}

/// Reads a file that only this user can access.
fn read_private(path: &Path) -> Option<Vec<u8>> {
    let file = open_file(path, FileOwner::Program, File::options().read(true)).ok()?;
    if file.metadata().ok()?.mode() & OPEN_TO_OTHERS != 0 {
        return None;
    }
    read_to_bound(file, RESULT_BYTES_MAX + CHECKSUM_BYTES as u64).ok()?
}

/// Whether only this user, or root, can put files into a directory.
fn is_private(dir: &Path) -> bool {
    fs::symlink_metadata(dir).is_ok_and(|found| {
        found.is_dir() && is_trusted_owner(found.uid()) && found.mode() & WRITABLE_FOR_OTHERS == 0
    })
}

fn checksum(key: &ResultKey, result: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
    hasher.update(key.as_bytes());
    hasher.update(result);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests;
