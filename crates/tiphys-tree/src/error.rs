//! Errors of writing trees, and of the store.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use tiphys_model::limits::Limit;

use crate::PathError;
use crate::path::shown;

/// An error while a tree is written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path of an entry is invalid.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A link leads out of the tree.
    #[error("repository contains out-of-bounds symlinks. file: {file}")]
    LinkOutside {
        /// The link.
        file: String,
    },
    /// Two entries with one path, or a file instead of a directory.
    #[error("{path} clashes with another entry")]
    Clash {
        /// The later entry.
        path: String,
    },
    /// Too many entries.
    #[error("the tree has more than {max} entries")]
    TooManyEntries {
        /// The maximum number.
        max: u64,
        /// [`Limit::TREE_ENTRIES_MAX`].
        #[source]
        limit: Limit,
    },
    /// Too many bytes.
    #[error("the tree has more than {max} bytes")]
    TooManyBytes {
        /// The maximum number.
        max: u64,
        /// [`Limit::TREE_BYTES_MAX`].
        #[source]
        limit: Limit,
    },
    /// The content of a file could not be read from its source.
    #[error("cannot read the content of {path}")]
    Content {
        /// The file.
        path: String,
        /// The reader's error.
        #[source]
        source: io::Error,
    },
    /// The file system failed.
    #[error("cannot write {}", shown(path.as_os_str().as_bytes()))]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system failed.
    #[error("cannot {action} {}", shown(path.as_os_str().as_bytes()))]
    Io {
        /// The action, as an infinitive.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A directory of the store belongs to another user, who could replace its content.
    #[error("{path} belongs to another user; use a directory of your own")]
    OfAnotherUser {
        /// The directory.
        path: PathBuf,
    },
    /// The store's directory was removed while it was written to.
    #[error("the directory {path} was removed while it was written to; the next call creates it again")]
    Removed {
        /// The directory.
        path: PathBuf,
    },
    /// The store was closed, because its process ends.
    #[error("the store of trees is closed")]
    Closed,
    /// The tree could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl StoreError {
    /// Returns a function that converts the system's error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }
}
