//! Reading typed fields out of a [`Node`] as Go's `encoding/json` reads them into a struct: keys match in any letter case,
//! `null` leaves a field unset, types are strict, the last of several equal keys wins.

use std::collections::BTreeMap;

use crate::{Node, Position};

/// A field that has the wrong type, or a document that is no object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {path}: {message}", position.line, position.column)]
pub struct DecodeError {
    /// Where the offending value begins.
    pub position: Position,
    /// Path of the field, as `spec.generate.command[1]`.
    pub path: String,
    /// What is wrong, for instance `expected a string, found a number`.
    pub message: String,
}

/// A mapping whose fields are read by name; it remembers which ones were asked for, so that the rest can be reported.
#[derive(Debug)]
pub struct Object<'a> {
    entries: Vec<&'a crate::Entry>,
    position: Position,
    path: String,
    known: Vec<&'static str>,
}

impl<'a> Object<'a> {
    /// Takes a mapping apart. `path` is what error texts call it; empty for a document. `null` is an empty object.
    pub fn new(node: &'a Node, path: impl Into<String>) -> Result<Self, DecodeError> {
        todo!("{node:?} {}", path.into())
    }

    /// Path of this object.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where this object begins.
    pub fn position(&self) -> Position {
        self.position
    }

    /// All values of the key in the order of the document, `null` ones included; the key is now known.
    pub fn all(&mut self, key: &'static str) -> Vec<&'a Node> {
        todo!("{key}")
    }

    /// The last value of the key that is not `null`.
    pub fn get(&mut self, key: &'static str) -> Option<&'a Node> {
        todo!("{key}")
    }

    /// A text.
    pub fn text(&mut self, key: &'static str) -> Result<Option<&'a str>, DecodeError> {
        todo!("{key}")
    }

    /// A boolean.
    pub fn boolean(&mut self, key: &'static str) -> Result<Option<bool>, DecodeError> {
        todo!("{key}")
    }

    /// A list of texts; a `null` item is an empty text, as in Go.
    pub fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, DecodeError> {
        todo!("{key}")
    }

    /// A mapping from text to text; a `null` value is an empty text, as in Go.
    pub fn text_map(&mut self, key: &'static str) -> Result<Option<BTreeMap<String, String>>, DecodeError> {
        todo!("{key}")
    }

    /// A list of any values.
    pub fn list(&mut self, key: &'static str) -> Result<Option<&'a [Node]>, DecodeError> {
        todo!("{key}")
    }

    /// An object; `None` if it is absent or `null`. Several of one key are merged, the later fields winning, as in Go.
    pub fn object(&mut self, key: &'static str) -> Result<Option<Object<'a>>, DecodeError> {
        todo!("{key}")
    }

    /// The entries whose keys nobody asked for.
    pub fn unknown(&self) -> Vec<&'a crate::Entry> {
        todo!("{:?}", self.known)
    }

    /// The keys that occur more than once, with their later positions.
    pub fn duplicates(&self) -> Vec<&'a crate::Key> {
        todo!("{:?}", self.entries)
    }
}

/// Whether Go's JSON decoder takes `a` and `b` for the same field name: simple case folding, `ſ` and the Kelvin sign included.
pub fn names_equal(a: &str, b: &str) -> bool {
    todo!("{a} {b}")
}
