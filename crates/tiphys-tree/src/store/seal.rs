//! Noticing that something was taken out of a kept tree, or put into it.
//!
//! Cleaners of temporary folders remove old files without asking whose they are. A tree with a file missing would render with objects
//! missing and nobody would know. So the modification times of a tree's directories are written down when it is finished, and
//! compared when it is used: adding, removing and renaming an entry changes its directory's time. Looking at directories alone costs
//! about a millisecond for 10,000 files. A file whose bytes are changed in place is not noticed here; a plugin
//! server's store looks at its files, too (`own/untouched.rs`).

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Stat, statat};

/// Ends each entry of a seal; no path has one.
const END: u8 = 0;

/// The directories of a tree with their times.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seal {
    entries: Vec<u8>,
    times: Times,
}

/// Which times of directories a seal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    /// Modification times alone: a tree that is moved into its place gets another change time.
    Modified,
    /// Change times, too, which nobody can set back.
    ModifiedAndChanged,
}

impl Seal {
    /// The seal of a finished tree.
    pub(super) fn of(tree: &Path, times: Times) -> io::Result<Self> {
        let root = File::open(tree)?;
        let mut seal = Self { entries: Vec::new(), times };
        let mut todo = vec![PathBuf::new()];
        while let Some(directory) = todo.pop() {
            seal.add(&root, directory.as_os_str().as_bytes())?;
            for entry in fs::read_dir(tree.join(&directory))? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    todo.push(directory.join(entry.file_name()));
                }
            }
        }
        Ok(seal)
    }

    /// The same where all directories below the root are known, without looking for them.
    pub(super) fn of_directories<'a>(
        tree: &Path,
        times: Times,
        directories: impl Iterator<Item = &'a [u8]>,
    ) -> io::Result<Self> {
        let root = File::open(tree)?;
        let mut seal = Self { entries: Vec::new(), times };
        seal.add(&root, b"")?;
        for directory in directories {
            seal.add(&root, directory)?;
        }
        Ok(seal)
    }

    /// Whether the tree's directories are as they were.
    pub(super) fn holds(&self, tree: &Path) -> bool {
        // Looking from the tree's own folder spares the kernel most of every path.
        let Ok(root) = File::open(tree) else { return false };
        let mut directories = self.directories().peekable();
        // A seal names the tree's root at least.
        directories.peek().is_some()
            && directories.all(|directory| {
                let found = statat(&root, directory.path(), AtFlags::SYMLINK_NOFOLLOW);
                found.is_ok_and(|found| directory.is_as_written(&found))
            })
    }

    /// The directories, the tree's root among them, each behind those that hold it.
    pub(super) fn directories(&self) -> impl Iterator<Item = Sealed<'_>> {
        self.entries.split(|byte| *byte == END).filter(|entry| !entry.is_empty()).map(|entry| {
            // Without a colon there is no time, which no directory has.
            let end = entry.iter().position(|byte| *byte == b':').map_or(0, |colon| colon + 1);
            let (time, path) = entry.split_at(end);
            Sealed { time, times: self.times, path: if path.is_empty() { b"." } else { path } }
        })
    }

    fn add(&mut self, root: &File, directory: &[u8]) -> io::Result<()> {
        let path = if directory.is_empty() { b".".as_slice() } else { directory };
        let found = statat(root, OsStr::from_bytes(path), AtFlags::SYMLINK_NOFOLLOW)?;
        self.entries.extend_from_slice(time_of(&found, self.times)?.as_bytes());
        self.entries.extend_from_slice(directory);
        self.entries.push(END);
        Ok(())
    }
}

/// A directory as it was when its tree was finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealed<'a> {
    time: &'a [u8],
    times: Times,
    path: &'a [u8],
}

impl<'a> Sealed<'a> {
    /// Its path below the tree's root, which itself is a dot.
    pub(super) fn path(self) -> &'a OsStr {
        OsStr::from_bytes(self.path)
    }

    /// Whether it is as it was.
    pub(super) fn is_as_written(self, found: &Stat) -> bool {
        time_of(found, self.times).is_ok_and(|time| time.as_bytes() == self.time)
    }
}

/// Writes the seal of a finished tree into a file.
pub(super) fn write(tree: &Path, file: &Path) -> io::Result<()> {
    fs::write(file, Seal::of(tree, Times::Modified)?.entries)
}

/// Whether the seal in a file holds.
pub(super) fn holds(tree: &Path, file: &Path) -> bool {
    fs::read(file).is_ok_and(|entries| Seal { entries, times: Times::Modified }.holds(tree))
}

/// The times of a directory, as an entry of a seal begins.
fn time_of(found: &Stat, times: Times) -> io::Result<String> {
    if !FileType::from_raw_mode(found.st_mode).is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let modified = format!("{}.{}", found.st_mtime, found.st_mtime_nsec);
    Ok(match times {
        Times::Modified => format!("{modified}:"),
        Times::ModifiedAndChanged => format!("{modified},{}.{}:", found.st_ctime, found.st_ctime_nsec),
    })
}

#[cfg(test)]
mod tests;
