//! YAML by the rules of the reader that Kubernetes uses (YAML 1.1 scalars and keys, merge keys, aliases).

use crate::{Error, Node};

/// Bounds on what one text may make of itself.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nesting of lists and objects, in levels.
    pub depth_max: usize,
    /// Nodes in one document after aliases are expanded.
    pub nodes_max: usize,
}

/// The bounds that are used where nobody says otherwise.
pub const LIMITS: Limits = Limits { depth_max: 1_000, nodes_max: 5_000_000 };

/// Reads the first document; `None` if there is none or it is empty. What follows it is not looked at.
/// A byte-order mark and UTF-16 are understood.
pub fn read_document(text: &[u8]) -> Result<Option<Node>, Error> {
    todo!("{text:?} {LIMITS:?}")
}

/// Reads all documents of a file, with positions that count from the file's beginning. Empty and `null` ones are left out.
pub fn read_documents(text: &[u8]) -> Result<Vec<Node>, Error> {
    todo!("{text:?}")
}
