//! Reads files and lists directories of a tree. Links are only followed inside the tree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{ContainmentError, EntryKind, PathError, RepoPath, Tree, read_bounded, resolve};

/// The depth of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Only the directory itself.
    Folder,
    /// Also all directories below it.
    Recursive,
}

/// An error while a tree is read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path does not exist or leads out.
    #[error(transparent)]
    Containment(#[from] ContainmentError),
    /// A name in the tree is invalid.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A name that is not UTF-8.
    #[error("{path:?} is not UTF-8")]
    NotUtf8 {
        /// The path with invalid bytes replaced.
        path: PathBuf,
    },
    /// The file exceeds the caller's limit.
    #[error("{path} has more than {bytes_max} bytes")]
    TooLarge {
        /// The file.
        path: RepoPath,
        /// The limit.
        bytes_max: u64,
    },
    /// The file system failed.
    #[error("cannot read {path}")]
    Io {
        /// The path.
        path: RepoPath,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

impl Tree {
    /// Reads a file; `None` if it does not exist, or is a directory or a broken link. A link that leads out is an error.
    pub fn read(&self, path: &RepoPath, bytes_max: u64) -> Result<Option<Vec<u8>>, ReadError> {
        let real = match resolve(self.root(), path) {
            Ok(real) => real,
            Err(ContainmentError::Missing { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let failed = |source| ReadError::Io { path: path.clone(), source };
        if !fs::metadata(&real).map_err(failed)?.is_file() {
            return Ok(None);
        }
        match read_bounded(&real, bytes_max).map_err(failed)? {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(ReadError::TooLarge { path: path.clone(), bytes_max }),
        }
    }

    /// Returns the files below a directory, with the names of each directory in byte order. Links to files count as files; links to
    /// directories are not followed, and broken links are ignored.
    pub fn files(&self, folder: &RepoPath, depth: Depth) -> Result<Vec<RepoPath>, ReadError> {
        self.listed(folder, depth, EntryKind::File)
    }

    /// Returns the directories below a directory, each before its content, with the names of each directory in byte order. Links to
    /// directories are left out.
    pub fn directories(&self, folder: &RepoPath) -> Result<Vec<RepoPath>, ReadError> {
        self.listed(folder, Depth::Recursive, EntryKind::Directory)
    }

    /// Whether links below a directory lead to paths that do not exist in the tree, as in a tree of a part of a revision. `false` for a
    /// file.
    pub fn has_lost_links(&self, folder: &RepoPath) -> Result<bool, ReadError> {
        self.has_link(folder, |link| !link.exists())
    }

    /// Whether links below a directory lead to something that [`Tree::files`] does not list: to directories, or to nothing.
    pub fn has_unlisted_links(&self, folder: &RepoPath) -> Result<bool, ReadError> {
        self.has_link(folder, |link| !link.is_file())
    }

    fn has_link(&self, folder: &RepoPath, is_meant: impl Fn(&Path) -> bool) -> Result<bool, ReadError> {
        let mut waiting = vec![resolve(self.root(), folder)?];
        while let Some(place) = waiting.pop() {
            let failed = |source| ReadError::Io { path: folder.clone(), source };
            if !place.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&place).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let kind = entry.file_type().map_err(failed)?;
                if kind.is_dir() {
                    waiting.push(entry.path());
                } else if kind.is_symlink() && is_meant(&entry.path()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn listed(&self, folder: &RepoPath, depth: Depth, wanted: EntryKind) -> Result<Vec<RepoPath>, ReadError> {
        let mut found = Vec::new();
        self.walk(folder, depth, wanted, &mut found)?;
        Ok(found)
    }

    fn walk(
        &self,
        folder: &RepoPath,
        depth: Depth,
        wanted: EntryKind,
        found: &mut Vec<RepoPath>,
    ) -> Result<(), ReadError> {
        let real = resolve(self.root(), folder)?;
        let failed = |source| ReadError::Io { path: folder.clone(), source };
        let mut entries =
            fs::read_dir(&real).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| ReadError::NotUtf8 { path: entry.path() })?;
            let path = folder.join(name)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                if wanted == EntryKind::Directory {
                    found.push(path.clone());
                }
                if depth == Depth::Recursive {
                    self.walk(&path, depth, wanted, found)?;
                }
            } else if wanted == EntryKind::File
                && (kind.is_file() || (kind.is_symlink() && self.is_link_to_file(&path)?))
            {
                found.push(path);
            }
        }
        Ok(())
    }

    fn is_link_to_file(&self, path: &RepoPath) -> Result<bool, ReadError> {
        match resolve(self.root(), path) {
            Ok(real) => Ok(real.is_file()),
            Err(ContainmentError::Missing { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
