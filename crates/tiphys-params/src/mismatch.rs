//! Error texts for values of a wrong type.

use tiphys_yaml::{DecodeError, Node};

/// The error of a value that has another type than the one that is due.
pub(crate) fn mismatch(node: &Node, path: &str, due: &str) -> DecodeError {
    DecodeError {
        position: node.position,
        path: path.to_owned(),
        message: format!("expected {due}, found {}", node.type_words()),
    }
}

/// Adds the remedy to the most frequent mistake: a number or a boolean (`1.0`, `yes`, `y`) that is meant as a text.
#[must_use]
pub fn with_remedy(mut error: DecodeError) -> DecodeError {
    if ["expected a string, found a number", "expected a string, found a boolean"]
        .contains(&error.message.as_str())
    {
        error.message.push_str("; put it in quotes");
    }
    error
}
