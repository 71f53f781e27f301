//! Decoding errors of a resource, with object, field and position.

use std::fmt;

use tiphys_yaml::{DecodeError, Position};

/// Identity of an object in messages: kind, namespace if set, and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Kind, such as `Application`.
    pub kind: String,
    /// Namespace; empty if the document has none.
    pub namespace: String,
    /// Name; empty if the document has none.
    pub name: String,
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "without a name" } else { &self.name };
        match (self.namespace.is_empty(), self.name.is_empty()) {
            (false, false) => write!(f, "{} {}/{name}", self.kind, self.namespace),
            _ => write!(f, "{} {name}", self.kind),
        }
    }
}

/// A document that has the kind of a known resource but is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {object}")]
pub struct ResourceError {
    /// The object, as far as the document names it.
    pub object: ObjectRef,
    /// The field, its position and the reason.
    #[source]
    pub source: Box<DecodeError>,
}

impl ResourceError {
    /// Returns the position of the invalid value.
    pub fn position(&self) -> Position {
        self.source.position
    }
}
