//! Why a command of xtask stopped.

use std::fmt::Display;
use std::path::Path;

/// A text for the person at the terminal: what failed, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl Failure {
    /// A failure with this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure of the file system.
    pub(crate) fn at(path: &Path, error: impl Display) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
