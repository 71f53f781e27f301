//! The directory of one measurement, on a memory file system. Some disk file systems create and remove files in quadratic time.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use tempfile::TempDir;

use crate::Failure;

/// The memory file system of Linux that every user can write to.
const MEMORY_FILE_SYSTEM: &str = "/dev/shm";

/// Prefix of our directories; the process ID and a `-` follow.
const PREFIX: &str = "tiphys-bench-";

/// Space for the repositories, caches and working copies.
const ROOM_MEBIBYTES_MIN: u64 = 1024;

/// Creates the directory, and removes those of processes that were killed.
pub(crate) fn make() -> Result<TempDir, Failure> {
    let memory = Path::new(MEMORY_FILE_SYSTEM);
    let found = statfs(memory).map_err(|error| Failure::at(memory, error))?;
    if found.filesystem_type() != TMPFS_MAGIC {
        return Err(Failure::at(memory, "is not a memory file system (tmpfs)"));
    }
    for entry in fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if id.is_some_and(|id| id.parse::<u32>().is_ok() && !Path::new("/proc").join(id).exists()) {
            // A directory of another user remains.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
    let block_bytes = u64::try_from(found.block_size()).unwrap_or(0);
    let free = found.blocks_available().saturating_mul(block_bytes) >> 20;
    if free < ROOM_MEBIBYTES_MIN {
        let problem = format!("has {free} MiB of free space; measuring needs {ROOM_MEBIBYTES_MIN} MiB");
        return Err(Failure::at(memory, problem));
    }
    tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}-", std::process::id()))
        // Some runs have another user.
        .permissions(Permissions::from_mode(0o755))
        .tempdir_in(memory)
        .map_err(|error| Failure::at(memory, error))
}
