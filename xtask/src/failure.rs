//! Failures of xtask's commands.

use std::fmt::Display;
use std::path::Path;

/// A message for the terminal: what failed, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl Failure {
    /// Creates a failure with this message.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Creates a failure about a path.
    pub(crate) fn at(path: &Path, error: impl Display) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
