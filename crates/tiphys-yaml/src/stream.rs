//! Splitting what a plugin printed into documents, as Kubernetes' decoder of YAML-or-JSON streams does.

use crate::{Error, Node};

/// One document of a plugin's output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputDocument {
    /// What the plugin server hands on: an object's own bytes if it was JSON, else compact JSON with sorted keys.
    pub text: String,
    /// The document as it was read, with positions that count from the beginning of the output.
    pub node: Node,
}

/// Splits the standard output of a plugin's `generate` (`spec/cmp.md` 6.6 and 14). Empty and `null` documents are left out.
pub fn split_output(stdout: &[u8]) -> Result<Vec<OutputDocument>, Error> {
    todo!("{stdout:?}")
}
