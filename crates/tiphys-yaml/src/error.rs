//! Errors of reading YAML and JSON.

use crate::Position;

/// How the message of a bound of levels begins, and no other.
const TOO_DEEP: &str = "nested deeper than";

/// How the messages of the other bounds begin, and no others.
pub(crate) const EXCESSIVE: &str = "the document contains excessive";
pub(crate) const TOO_MANY: &str = "the document has more than";

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", position.map(|p| format!("line {}, column {}: ", p.line, p.column)).unwrap_or_default())]
pub struct Error {
    /// Where, if it is known; counts from the beginning of the text that was given.
    pub position: Option<Position>,
    /// What is wrong, as a lower-case fragment without a full stop.
    pub message: String,
}

impl Error {
    /// An error at a place.
    pub fn at(position: Position, message: impl Into<String>) -> Self {
        Self { position: Some(position), message: message.into() }
    }

    /// That lists and objects are within one another in more levels than are followed.
    pub fn too_deep(position: Position, levels_max: usize) -> Self {
        Self::at(position, format!("{TOO_DEEP} {levels_max} levels"))
    }

    /// Whether it is one of [`Error::too_deep`]: another reader may follow more levels.
    pub fn is_too_deep(&self) -> bool {
        self.message.starts_with(TOO_DEEP)
    }

    /// Whether the text has more than [`Limits`](crate::Limits) allow: another reader may read it.
    pub fn is_limit(&self) -> bool {
        [TOO_DEEP, EXCESSIVE, TOO_MANY].iter().any(|limit| self.message.starts_with(limit))
    }
}
