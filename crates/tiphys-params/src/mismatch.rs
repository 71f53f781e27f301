//! Error texts for values of a wrong type.

use tiphys_yaml::{Data, DecodeError, Node};

/// The error of a value that has another type than the one that is due.
pub(crate) fn mismatch(node: &Node, path: &str, due: &str) -> DecodeError {
    DecodeError {
        position: node.position,
        path: path.to_owned(),
        message: format!("expected {due}, found {}", type_words(node)),
    }
}

/// The type of a value in words with an article.
pub(crate) fn type_words(node: &Node) -> &'static str {
    match node.data {
        Data::Null => "null",
        Data::Bool(_) => "a boolean",
        Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) => "a number",
        Data::String(_) => "a string",
        Data::Sequence(_) => "a list",
        Data::Mapping(_) => "an object",
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
