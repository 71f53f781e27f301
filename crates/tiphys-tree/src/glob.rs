//! The two glob languages of plugin discovery.

use std::path::{Path, PathBuf};

/// A pattern that cannot be used, or a tree that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GlobError {
    /// The pattern is malformed.
    #[error("syntax error in pattern")]
    Pattern,
    /// zglob's answer for a missing literal path or static prefix.
    #[error("{path}: file does not exist")]
    Missing {
        /// The path.
        path: PathBuf,
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

/// `discover.fileName`: Go's `filepath.Glob(filepath.Join(base, pattern))` (`spec/cmp.md` 3.2 and 14). Sorted.
pub fn file_name(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, GlobError> {
    todo!("{base:?} {pattern}")
}

/// `discover.find.glob`: go-zglob's `Glob(filepath.Join(base, pattern))` (`spec/cmp.md` 3.3 and 14). `variable` looks up `$NAME` segments. Sorted by bytes.
pub fn find(
    base: &Path,
    pattern: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<PathBuf>, GlobError> {
    todo!("{base:?} {pattern} {}", variable("x").is_some())
}

/// Go's `filepath.Match` on Linux.
pub fn go_match(pattern: &str, name: &str) -> Result<bool, GlobError> {
    todo!("{pattern} {name}")
}
