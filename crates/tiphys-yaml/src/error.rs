//! Errors of reading YAML and JSON.

use crate::Position;

/// Beginning of the message for the nesting limit, and only of that.
const TOO_DEEP: &str = "nested deeper than";

/// Beginnings of the messages for the other limits, and only of those.
pub(crate) const EXCESSIVE: &str = "the document contains excessive";
pub(crate) const TOO_MANY: &str = "the document has more than";

/// The error of parsing a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", position.map(|p| format!("line {}, column {}: ", p.line, p.column)).unwrap_or_default())]
pub struct Error {
    /// The position from the beginning of the given text, if known.
    pub position: Option<Position>,
    /// The error, as a lower-case fragment without a full stop.
    pub message: String,
}

impl Error {
    /// Returns an error at a position.
    pub fn at(position: Position, message: impl Into<String>) -> Self {
        Self { position: Some(position), message: message.into() }
    }

    /// Returns the error for lists and objects that are nested deeper than `levels_max`.
    pub fn too_deep(position: Position, levels_max: usize) -> Self {
        Self::at(position, format!("{TOO_DEEP} {levels_max} levels"))
    }

    /// Returns whether this is [`Error::too_deep`]. A parser with another limit may accept the text.
    pub fn is_too_deep(&self) -> bool {
        self.message.starts_with(TOO_DEEP)
    }

    /// Returns whether the text exceeds [`Limits`](crate::Limits). A parser with other limits may accept it.
    pub fn is_limit(&self) -> bool {
        [TOO_DEEP, EXCESSIVE, TOO_MANY].iter().any(|limit| self.message.starts_with(limit))
    }
}
