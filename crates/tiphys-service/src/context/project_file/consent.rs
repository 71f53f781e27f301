//! The user's consent to files of checkouts, remembered by content.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tiphys_tree::{FileOwner, is_trusted_owner, locations, open_file};

use crate::context::host::Host;

/// The directory of the consents in the user's configuration.
const DIRECTORY: &str = "allowed";

/// Permission bits that let other users write.
const WRITABLE_FOR_OTHERS: u32 = 0o022;

/// The consents of a user: one file for each allowed content of a path. Its name is the BLAKE3 hash of both,
/// its content the path.
#[derive(Clone, Debug)]
pub(super) struct Consents {
    dir: PathBuf,
}

impl Consents {
    /// Returns the consents in the user's configuration directory (XDG). `None` if the user has none.
    pub(super) fn of(host: &Host) -> Option<Self> {
        let base = host
            .variable("XDG_CONFIG_HOME")
            .filter(|dir| dir.starts_with('/'))
            .map(PathBuf::from)
            .or_else(|| host.variable("HOME").map(|home| Path::new(home).join(".config")));
        Some(Self { dir: base?.join("tiphys").join(DIRECTORY) })
    }

    /// Returns the directory of the consents.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns whether a canonical directory contains the consents, or a link to them: it could then bring them along.
    pub(super) fn are_in(&self, dir: &Path) -> bool {
        locations(&self.dir).iter().any(|location| location.place.starts_with(dir))
    }

    /// Returns whether the user allowed a content at a path. A directory or file that other users can write does not count.
    pub(super) fn contain(&self, path: &Path, content: &[u8]) -> bool {
        let is_own =
            |found: &fs::Metadata| is_trusted_owner(found.uid()) && found.mode() & WRITABLE_FOR_OTHERS == 0;
        let entry = self.dir.join(name(path, content));
        let opened = open_file(&entry, FileOwner::Program, File::options().read(true));
        let found = opened.map_err(io::Error::from).and_then(|file| file.metadata());
        found.is_ok_and(|found| is_own(&found)) && fs::metadata(&self.dir).is_ok_and(|found| is_own(&found))
    }

    /// Remembers a content at a path.
    pub(super) fn add(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let mut file =
            tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(&self.dir)?;
        file.write_all(path.as_os_str().as_encoded_bytes())?;
        file.persist(self.dir.join(name(path, content)))?;
        Ok(())
    }

    /// Forgets every content at a path. Returns whether there was one.
    pub(super) fn remove(&self, path: &Path) -> io::Result<bool> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            entries => entries?,
        };
        let mut removed = false;
        for entry in entries {
            let entry = entry?.path();
            if fs::read(&entry)? == path.as_os_str().as_encoded_bytes() {
                fs::remove_file(&entry)?;
                removed = true;
            }
        }
        Ok(removed)
    }
}

fn name(path: &Path, content: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(path.as_os_str().as_encoded_bytes()).update(&[0]).update(content);
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests;
