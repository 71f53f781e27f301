//! Writing a tree: every entry is checked before anything is created.

use std::io::Read;
use std::path::PathBuf;

use crate::{PathError, RepoPath};

/// Bounds of one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Entries: files, directories and links.
    pub entries_max: u64,
    /// Bytes of all files together.
    pub bytes_max: u64,
}

/// Why a tree could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// An entry's path is not inside.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A link leads out of the tree.
    #[error("repository contains out-of-bounds symlinks. file: {file}")]
    LinkOutside {
        /// The link.
        file: String,
    },
    /// Two entries of one path, or a file where a directory is due.
    #[error("{path} clashes with another entry")]
    Clash {
        /// The later entry.
        path: String,
    },
    /// Too many entries.
    #[error("more than {max} entries")]
    TooManyEntries {
        /// The bound.
        max: u64,
    },
    /// Too many bytes.
    #[error("more than {max} bytes")]
    TooManyBytes {
        /// The bound.
        max: u64,
    },
    /// The file system failed.
    #[error("cannot write {path}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
}

/// Writes one tree of the store. Parents are made on demand; links are checked when all entries are there.
#[derive(Debug)]
pub struct TreeWriter {}

impl TreeWriter {
    /// A directory (which may exist already).
    pub fn directory(&mut self, path: &RepoPath) -> Result<(), WriteError> {
        todo!("{path}")
    }

    /// A file with these bytes.
    pub fn file(&mut self, path: &RepoPath, executable: bool, content: &[u8]) -> Result<(), WriteError> {
        todo!("{path} {executable} {}", content.len())
    }

    /// A file whose bytes are read from somewhere.
    pub fn file_from(&mut self, path: &RepoPath, executable: bool, content: &mut dyn Read) -> Result<(), WriteError> {
        let _ = content;
        todo!("{path} {executable}")
    }

    /// A symbolic link with this target.
    pub fn link(&mut self, path: &RepoPath, target: &str) -> Result<(), WriteError> {
        todo!("{path} {target}")
    }
}
