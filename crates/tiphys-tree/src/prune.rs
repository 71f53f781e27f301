//! Removing the least recently used entries of a cache on disk.
//!
//! An entry is a file or directory that is used and removed as a whole: a clone, an archive, a tree. Its name is a hash
//! ([`is_cache_name`]); everything else in a directory belongs to another program and stays. Its modification time says when it was used
//! last ([`mark_used`]). An entry that another process removes meanwhile counts as removed.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};

/// Unit of `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// Minimum number of hexadecimal digits in the name of an entry.
const NAME_DIGITS_MIN: usize = 32;

/// Extension of lock files, which are not entries. The one of a removed entry goes with it.
const LOCK: &str = "lock";

/// Extension of directories whose removal has begun. If the process is killed, no one uses the rest of the entry.
const REMOVED: &str = "removed";

/// Result of [`prune`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of removed entries.
    pub removed: usize,
    /// Bytes on disk of removed entries.
    pub removed_bytes: u64,
    /// Number of entries that stay.
    pub kept: usize,
    /// Bytes on disk of entries that stay.
    pub kept_bytes: u64,
}

struct Entry {
    used: SystemTime,
    path: PathBuf,
    bytes: u64,
}

/// Records that an entry is used now. An entry that cannot be marked, because the cache is read-only, stays as it is.
pub fn mark_used(entry: &Path) {
    let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let times = Timestamps { last_access: omit, last_modification: now };
    let _marked: rustix::io::Result<()> = utimensat(CWD, entry, &times, AtFlags::SYMLINK_NOFOLLOW);
}

/// Whether a path has a name that only tiphys gives: a hash in hexadecimal digits, with or without an extension.
pub fn is_cache_name(path: &Path) -> bool {
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    stem.len() >= NAME_DIGITS_MIN && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Removes the least recently used entries of these directories until all entries together take at most `bytes_max` bytes on disk. A
/// directory that does not exist has no entries.
pub fn prune(directories: &[PathBuf], bytes_max: u64) -> io::Result<Pruned> {
    let mut entries = Vec::new();
    for directory in directories {
        entries_of(directory, &mut entries)?;
    }
    entries.sort_by_key(|entry: &Entry| entry.used);
    let mut pruned = Pruned {
        kept: entries.len(),
        kept_bytes: entries.iter().map(|entry| entry.bytes).sum(),
        ..Pruned::default()
    };
    for entry in entries {
        if pruned.kept_bytes <= bytes_max {
            break;
        }
        unless_gone(remove(&entry.path))?;
        pruned.removed += 1;
        pruned.removed_bytes += entry.bytes;
        pruned.kept -= 1;
        pruned.kept_bytes -= entry.bytes;
    }
    Ok(pruned)
}

fn entries_of(directory: &Path, entries: &mut Vec<Entry>) -> io::Result<()> {
    let found = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    for found in found {
        let path = found?.path();
        if !is_cache_name(&path) || path.extension().is_some_and(|extension| extension == LOCK) {
            continue;
        }
        if path.extension().is_some_and(|extension| extension == REMOVED) {
            tiphys_process::removal::remove_tree(&path)?;
            continue;
        }
        let entry = || {
            let metadata = fs::symlink_metadata(&path)?;
            let bytes = bytes_of(&path, &metadata)?;
            Ok(Entry { used: metadata.modified()?, bytes, path: path.clone() })
        };
        entries.extend(unless_gone(entry())?);
    }
    Ok(())
}

/// Returns `None` for a file or directory that does not exist: another process may have removed it.
pub fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Bytes on disk of a file, or of a directory with everything in it.
fn bytes_of(path: &Path, metadata: &fs::Metadata) -> io::Result<u64> {
    let mut bytes = metadata.blocks() * BLOCK_BYTES;
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            bytes += bytes_of(&path, &fs::symlink_metadata(&path)?)?;
        }
    }
    Ok(bytes)
}

fn remove(entry: &Path) -> io::Result<()> {
    if fs::symlink_metadata(entry)?.is_dir() {
        let removed = entry.with_extension(REMOVED);
        fs::rename(entry, &removed)?;
        tiphys_process::removal::remove_tree(&removed)?;
    } else {
        fs::remove_file(entry)?;
    }
    // Most entries have none.
    let _gone: io::Result<()> = fs::remove_file(entry.with_extension(LOCK));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::{Pruned, mark_used, prune};

    const BYTES: u64 = 64 * 1024;

    /// The name of an entry.
    fn name(digit: &str) -> String {
        digit.repeat(64)
    }

    fn entry(path: &Path, age_days: u64) {
        fs::create_dir_all(path.join("sub")).expect("the directory can be made");
        fs::write(path.join("sub/file"), vec![1; 64 * 1024]).expect("the file can be written");
        let used = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * (1000 - age_days));
        File::open(path).and_then(|file| file.set_modified(used)).expect("the time can be set");
    }

    #[test]
    fn least_recently_used_entries_are_removed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (first, second) = (dir.path().join("git"), dir.path().join("trees"));
        entry(&first.join(name("0")), 3);
        fs::write(first.join(name("0")).with_extension("lock"), "").expect("the lock can be written");
        entry(&first.join(name("1")), 4);
        entry(&second.join(name("2")), 1);
        entry(&second.join(name("3")), 5);
        let foreign = first.join("myproject");
        entry(&foreign, 9);
        mark_used(&second.join(name("3")));
        let directories = [first.clone(), second.clone(), dir.path().join("missing")];
        let all = prune(&directories, u64::MAX).expect("it can be measured");
        assert_eq!((all.removed, all.kept), (0, 4));
        assert!(all.kept_bytes >= 4 * BYTES, "{all:?}");
        let pruned = prune(&directories, all.kept_bytes - 1).expect("it can be pruned");
        assert_eq!((pruned.removed, pruned.kept), (1, 3));
        assert!(!first.join(name("1")).exists());
        let pruned = prune(&directories, pruned.kept_bytes - 1).expect("it can be pruned");
        assert_eq!((pruned.removed, pruned.removed_bytes + pruned.kept_bytes), (1, all.kept_bytes / 4 * 3));
        assert!(!first.join(name("0")).exists() && !first.join(name("0")).with_extension("lock").exists());
        assert!(second.join(name("3")).exists(), "it was marked as used");
        assert_eq!(prune(&directories, 0).expect("it can be pruned").kept, 0);
        assert_eq!(prune(&directories, 0).expect("it can be pruned"), Pruned::default());
        assert!(foreign.exists(), "it is not an entry");
    }

    #[test]
    fn interrupted_removal_is_finished() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        entry(&dir.path().join(name("a")).with_extension("removed"), 1);
        entry(&dir.path().join(name("a")), 1);
        let pruned = prune(&[dir.path().to_path_buf()], u64::MAX).expect("it can be measured");
        assert_eq!((pruned.removed, pruned.kept), (0, 1));
        assert!(!dir.path().join(name("a")).with_extension("removed").exists());
    }
}
