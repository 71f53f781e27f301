//! Errors of reading YAML and JSON.

use crate::Position;

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
}
