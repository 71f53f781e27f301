//! Errors of reading a resource: which object, which field, where in its text.

use std::fmt;

use tiphys_yaml::{DecodeError, Position};

/// How people name an object: its kind, and its name with the namespace if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Kind, as `Application`.
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

/// A document that is a resource by its kind, but does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {object}")]
pub struct ResourceError {
    /// The object, as far as it could be named.
    pub object: ObjectRef,
    /// The field, where it stands and what is wrong with it.
    #[source]
    pub source: Box<DecodeError>,
}

impl ResourceError {
    /// Where in the text the offending value begins.
    pub fn position(&self) -> Position {
        self.source.position
    }
}
