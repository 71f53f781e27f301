//! Paths in a repository: as strings of documents, and as bytes of the file system.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// A path relative to a repository's root, as a string: no leading `/`, no `..`, no `.` or empty components, no NUL. The empty path is the
/// root.
///
/// Cleaning is lexical, as in Go's `path.Clean`; [`resolve`](crate::resolve) handles links. A backslash is an ordinary character.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(String);

/// The path of an entry of a tree as bytes, because file names may contain any bytes, with the rules of a [`RepoPath`], which converts
/// without a copy. Comparison is by bytes.
///
/// UTF-8 is printed as it is. Other paths are printed in quotes with escapes: `"caf\xE9.yaml"`. So different paths never look equal, as
/// with U+FFFD.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryPath<'a>(Cow<'a, [u8]>);

/// An invalid path in a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It leads out of the repository.
    #[error("path {path:?} leads out of the repository")]
    Outside {
        /// The path.
        path: OsString,
    },
    /// It is absolute.
    #[error("path {path:?} is absolute; it must be relative to the repository's root")]
    Absolute {
        /// The path.
        path: OsString,
    },
    /// It contains a NUL byte.
    #[error("path {path:?} holds a NUL byte")]
    Nul {
        /// The path.
        path: OsString,
    },
}

impl RepoPath {
    /// Cleans a path (`./a//b/../c` is `a/c`) and rejects one that leaves the root.
    pub fn new(path: &str) -> Result<Self, PathError> {
        Self::default().join(path)
    }

    /// Returns the path, `/`-separated; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Joins this path to a directory; returns the directory for the root. Links are not resolved.
    pub fn below(&self, root: &Path) -> PathBuf {
        EntryPath::from(self).below(root)
    }

    /// Whether this is the repository's root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the parent directory; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let parent = parent(self.0.as_bytes()).len();
        (!self.is_root()).then(|| Self(self.0[..parent].to_owned()))
    }

    /// Returns the last component; `None` for the root.
    pub fn file_name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// Appends another path. `..` may lead up within this path, but not out of the repository.
    pub fn join(&self, path: &str) -> Result<Self, PathError> {
        check(path.as_bytes())?;
        let separator = if self.is_root() { "" } else { "/" };
        let whole = [&self.0, separator, path].concat();
        if is_clean(path.as_bytes()) {
            return Ok(Self(whole));
        }
        let names = names(whole.as_bytes()).ok_or_else(|| PathError::Outside { path: path.into() })?;
        Ok(Self(names.into_iter().map(|name| &whole[name]).collect::<Vec<_>>().join("/")))
    }
}

impl fmt::Display for RepoPath {
    /// Prints `.` for the root.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        EntryPath::from(self).fmt(f)
    }
}

impl<'a> EntryPath<'a> {
    /// Cleans a path like [`RepoPath::new`] and rejects one that leaves the root. A clean path is not copied.
    pub fn new(path: &'a [u8]) -> Result<Self, PathError> {
        if is_clean(path) {
            check(path)?;
            return Ok(Self(Cow::Borrowed(path)));
        }
        EntryPath::default().join(path)
    }

    /// Returns the path, `/`-separated; empty for the root.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Joins this path to a directory; returns the directory for the root. Links are not resolved.
    pub fn below(&self, root: &Path) -> PathBuf {
        if self.is_root() { root.to_path_buf() } else { root.join(to_path(&self.0)) }
    }

    /// Whether this is the tree's root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the parent directory; `None` for the root.
    pub fn parent(&self) -> Option<EntryPath<'_>> {
        (!self.is_root()).then(|| EntryPath(Cow::Borrowed(parent(&self.0))))
    }

    /// Returns the last component; `None` for the root.
    pub fn file_name(&self) -> Option<&[u8]> {
        self.0.rsplit(is_slash).next().filter(|name| !name.is_empty())
    }

    /// Appends another path. `..` may lead up within this path, but not out of the tree.
    pub fn join(&self, path: &[u8]) -> Result<EntryPath<'static>, PathError> {
        check(path)?;
        let separator: &[u8] = if self.is_root() { b"" } else { b"/" };
        let whole = [&self.0, separator, path].concat();
        if is_clean(path) {
            return Ok(EntryPath(Cow::Owned(whole)));
        }
        let names = names(&whole).ok_or_else(|| PathError::Outside { path: os_string(path) })?;
        let names: Vec<&[u8]> = names.into_iter().map(|name| &whole[name]).collect();
        Ok(EntryPath(Cow::Owned(names.join(&b'/'))))
    }

    /// Converts to an owned path.
    pub fn into_owned(self) -> EntryPath<'static> {
        EntryPath(Cow::Owned(self.0.into_owned()))
    }

    /// Creates a path from clean components.
    pub(crate) fn from_clean(path: impl Into<Cow<'a, [u8]>>) -> Self {
        Self(path.into())
    }
}

impl<'a> From<&'a RepoPath> for EntryPath<'a> {
    fn from(path: &'a RepoPath) -> Self {
        Self(Cow::Borrowed(path.0.as_bytes()))
    }
}

impl From<RepoPath> for EntryPath<'static> {
    fn from(path: RepoPath) -> Self {
        Self(Cow::Owned(path.0.into_bytes()))
    }
}

impl<'a> From<&'a EntryPath<'_>> for EntryPath<'a> {
    fn from(path: &'a EntryPath<'_>) -> Self {
        Self(Cow::Borrowed(&path.0))
    }
}

impl fmt::Display for EntryPath<'_> {
    /// Prints `.` for the root.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() { f.write_str(".") } else { f.write_str(&shown(&self.0)) }
    }
}

impl fmt::Debug for EntryPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        to_path(&self.0).fmt(f)
    }
}

/// Formats a name or path as described for [`EntryPath`].
pub(crate) fn shown(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(quoted(path)),
    }
}

/// Formats a name or path in quotes.
#[expect(clippy::unnecessary_debug_formatting, reason = "the quotes and escapes are what is wanted")]
pub(crate) fn quoted(path: &[u8]) -> String {
    format!("{:?}", OsStr::from_bytes(path))
}

/// Converts bytes to a path.
pub(crate) fn to_path(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

/// Returns everything before the last `/` of a clean path; the empty path, the root, if there is none.
pub(crate) fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(is_slash).map_or(&[], |slash| &path[..slash])
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that split and rposition call")]
pub(crate) fn is_slash(byte: &u8) -> bool {
    *byte == b'/'
}

/// Rejects what is invalid in any position.
fn check(path: &[u8]) -> Result<(), PathError> {
    if path.starts_with(b"/") {
        return Err(PathError::Absolute { path: os_string(path) });
    }
    if path.contains(&0) {
        return Err(PathError::Nul { path: os_string(path) });
    }
    Ok(())
}

/// Whether the path is clean.
fn is_clean(path: &[u8]) -> bool {
    path.split(is_slash).all(|name| !matches!(name, b"" | b"." | b".."))
}

/// Returns the ranges of the names in a cleaned path; `None` if the path leads above its beginning.
fn names(path: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut names = Vec::new();
    let mut start = 0;
    for name in path.split(is_slash) {
        let end = start + name.len();
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop()?;
            }
            _ => names.push(start..end),
        }
        start = end + 1;
    }
    Some(names)
}

fn os_string(path: &[u8]) -> OsString {
    OsString::from_vec(path.to_vec())
}
