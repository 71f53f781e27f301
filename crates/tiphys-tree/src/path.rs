//! Paths inside a repository.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

/// A path relative to a repository's root: no leading `/`, no `..`, no `.` or empty components, no NUL; empty is the root itself.
///
/// Cleaning is lexical, as in Go's `path.Clean`; links are the business of [`resolve`](crate::resolve). A backslash is an ordinary
/// character.
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
        Self::default().join(path)
    }

    /// A path whose components are known to be names.
    pub(crate) fn from_clean(path: String) -> Self {
        Self(path)
    }

    /// The path, `/`-separated; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where this path is below a directory; the directory itself for the root. Links are not looked at.
    pub fn below(&self, root: &Path) -> PathBuf {
        if self.is_root() { root.to_path_buf() } else { root.join(&self.0) }
    }

    /// Whether this is the repository's root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The directory that holds this path; none for the root.
    pub fn parent(&self) -> Option<Self> {
        (!self.is_root()).then(|| Self(parent(&self.0).to_owned()))
    }

    /// The last component; none for the root.
    pub fn file_name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// This path with another one behind it. `..` may climb within this path, but not out of the repository.
    pub fn join(&self, path: &str) -> Result<Self, PathError> {
        if path.starts_with('/') {
            return Err(PathError::Absolute { path: path.to_owned() });
        }
        if path.contains('\0') {
            return Err(PathError::Nul { path: path.to_owned() });
        }
        let mut clean = String::with_capacity(self.0.len() + 1 + path.len());
        clean.push_str(&self.0);
        for component in path.split('/') {
            match component {
                "" | "." => {}
                ".." if clean.is_empty() => return Err(PathError::Outside { path: path.to_owned() }),
                ".." => clean.truncate(parent(&clean).len()),
                name => {
                    if !clean.is_empty() {
                        clean.push('/');
                    }
                    clean.push_str(name);
                }
            }
        }
        Ok(Self(clean))
    }
}

impl std::fmt::Display for RepoPath {
    /// `.` for the root.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

/// What stands before the last `/` of a clean path; empty, the root, where there is none.
pub(crate) fn parent(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..slash])
}
