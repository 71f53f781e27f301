//! Errors of reading YAML and JSON.

use crate::Position;

/// The error of parsing a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", position.map(|p| format!("line {}, column {}: ", p.line, p.column)).unwrap_or_default())]
pub struct Error {
    /// The position from the beginning of the given text, if known.
    pub position: Option<Position>,
    /// The error, as a lower-case fragment without a full stop.
    pub message: String,
    /// Its kind.
    pub kind: ErrorKind,
}

/// The kind of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is malformed.
    Malformed,
    /// A number of JSON is too large for a 64-bit float.
    LargeNumber(String),
    /// One of the [`Limits`](crate::Limits) is exceeded.
    Limit,
}

impl Error {
    /// Returns the error for a malformed text.
    pub fn at(position: Position, message: impl Into<String>) -> Self {
        Self { position: Some(position), message: message.into(), kind: ErrorKind::Malformed }
    }

    /// Returns the error for lists and objects that are nested deeper than `levels_max`.
    pub fn too_deep(position: Position, levels_max: usize) -> Self {
        Self::limit(position, format!("nested deeper than {levels_max} levels"))
    }

    /// Returns the error for a limit.
    pub(crate) fn limit(position: Position, message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Limit, ..Self::at(position, message) }
    }

    /// Returns the message with its line, as Go's YAML library prints it.
    pub fn in_go_words(&self) -> String {
        let line = self.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
        format!("{line}{}", self.message)
    }

    /// Returns whether the text exceeds [`Limits`](crate::Limits). A parser with other limits may accept it.
    pub fn is_limit(&self) -> bool {
        self.kind == ErrorKind::Limit
    }
}
