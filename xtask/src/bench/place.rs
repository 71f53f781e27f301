//! The directory of one measurement, on a memory file system. Some disk file systems create and remove files in quadratic time.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nix::sys::statfs::{TMPFS_MAGIC, statfs};

use crate::Failure;

/// The memory file system of Linux that every user can write to.
const MEMORY_FILE_SYSTEM: &str = "/dev/shm";

/// Prefix of our directories; the process ID follows.
const PREFIX: &str = "tiphys-bench-";

/// Space for the repositories, caches and working copies.
const ROOM_BYTES_MIN: u64 = 1024 * 1024 * 1024;

/// A directory that is removed on drop.
pub(crate) struct Place(PathBuf);

impl Place {
    /// Creates the directory, and removes those of processes that were killed.
    pub(crate) fn make() -> Result<Self, Failure> {
        let memory = Path::new(MEMORY_FILE_SYSTEM);
        let found = statfs(memory).map_err(|error| {
            Failure::new(format!("no memory file system to measure on: {MEMORY_FILE_SYSTEM}: {error}"))
        })?;
        if found.filesystem_type() != TMPFS_MAGIC {
            return Err(Failure::new(format!("{MEMORY_FILE_SYSTEM} is not a memory file system (tmpfs)")));
        }
        remove_left_over(memory);
        let block_bytes = u64::try_from(found.block_size()).unwrap_or(0);
        let free_bytes = found.blocks_available().saturating_mul(block_bytes);
        if free_bytes < ROOM_BYTES_MIN {
            return Err(Failure::new(format!(
                "{MEMORY_FILE_SYSTEM} has {} MiB of free space; measuring needs {} MiB",
                free_bytes >> 20,
                ROOM_BYTES_MIN >> 20
            )));
        }
        let path = memory.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| Failure::at(&path, error))?;
        let place = Self(path);
        // Some runs have another user.
        fs::set_permissions(&place.0, fs::Permissions::from_mode(0o755))
            .map_err(|error| Failure::at(&place.0, error))?;
        Ok(place)
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}

/// Removes directories of interrupted measurements, which use memory.
fn remove_left_over(memory: &Path) {
    for entry in fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        if is_id && !Path::new("/proc").join(id).exists() {
            // A directory of another user remains.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Removes a directory with its content if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::at(path, error)),
        _ => Ok(()),
    }
}

/// Writes a file, and creates its directory.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
    fs::write(path, content).map_err(|error| Failure::at(path, error))
}
