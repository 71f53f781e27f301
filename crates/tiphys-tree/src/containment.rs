//! Keeping paths and links inside a tree.

use std::path::{Path, PathBuf};

use crate::RepoPath;

/// A path or a link that leads out of a tree, or is not there.
#[derive(Debug, thiserror::Error)]
pub enum ContainmentError {
    /// A link leads out.
    #[error("repository contains out-of-bounds symlinks. file: {file}")]
    OutOfBounds {
        /// The link, relative to the root.
        file: String,
    },
    /// Nothing there.
    #[error("{path}: app path does not exist")]
    Missing {
        /// As it was asked for.
        path: String,
    },
    /// The file system failed.
    #[error("cannot read {path}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
}

/// The real path of something inside a tree, all links followed; refuses to leave the root at any step.
pub fn resolve(root: &Path, path: &RepoPath) -> Result<PathBuf, ContainmentError> {
    todo!("{root:?} {path}")
}

/// Refuses a directory that has a link which is absolute or leaves the root at any step of its path (`spec/cmp.md` 7.4).
pub fn check_links(root: &Path) -> Result<(), ContainmentError> {
    todo!("{root:?}")
}
