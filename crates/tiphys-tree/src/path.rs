//! Paths inside a repository.

/// A path relative to a repository's root: no leading `/`, no `..`, no `.` or empty components, no NUL; empty is the root itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(String);

/// Why a text is no path inside a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It leads out of the repository.
    #[error("path {path:?} leads out of the repository")]
    Outside {
        /// As it was given.
        path: String,
    },
    /// It is absolute.
    #[error("path {path:?} is absolute; it must be relative to the repository's root")]
    Absolute {
        /// As it was given.
        path: String,
    },
    /// It holds a NUL byte.
    #[error("path {path:?} holds a NUL byte")]
    Nul {
        /// As it was given.
        path: String,
    },
}

impl RepoPath {
    /// Cleans a path (`./a//b/../c` is `a/c`) and refuses what leaves the root.
    pub fn new(path: &str) -> Result<Self, PathError> {
        todo!("{path}")
    }

    /// The path, `/`-separated; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This path with another one behind it.
    pub fn join(&self, path: &str) -> Result<Self, PathError> {
        todo!("{path}")
    }
}

impl std::fmt::Display for RepoPath {
    /// `.` for the root.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}
