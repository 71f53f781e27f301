//! YAML by the rules of Kubernetes' parser (YAML 1.1 scalars and keys, merge keys, aliases).
//!
//! Kubernetes uses go-yaml v2, a translation of libyaml to Go, and converts the result to JSON (`sigs.k8s.io/yaml`). Their rules are
//! implemented in four steps: a [`cursor`] that tracks lines and columns, tokens ([`scan`]), events ([`parse`]), and documents
//! ([`compose`], with [`crate::scalar`]). No library is used: the ports of libyaml to Rust are unsafe or do not return an error for all
//! malformed input, and other parsers tokenize by YAML 1.2.

mod compose;
mod cursor;
mod parse;
mod scan;
pub(crate) mod spans;

use crate::scalar::Unquoted;
use crate::{Error, Node, Position, json, text};

pub(crate) use compose::Documents;
pub(crate) use scan::ScalarStyle;

/// Limits on the resources that one text may use.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "each is a maximum")]
pub struct Limits {
    /// Nesting of lists and objects, in levels.
    pub depth_max: usize,
    /// Number of nodes in one document after aliases are expanded.
    pub nodes_max: usize,
    /// Bytes that the aliases of one document may add to it.
    pub alias_bytes_max: usize,
}

/// The default limits.
pub const LIMITS: Limits = Limits { depth_max: 1_000, nodes_max: 5_000_000, alias_bytes_max: 64 << 20 };

/// Parses the first document; `None` if there is none or it is empty. Content after it is ignored. A byte-order mark and UTF-16 are
/// supported, and JSON even where it is not valid YAML 1.1 (`\/`, surrogate escapes).
pub fn read_document(text: &[u8]) -> Result<Option<Node>, Error> {
    read_document_within(text, LIMITS)
}

/// Parses like [`read_document`], with other limits.
pub fn read_document_within(text: &[u8], limits: Limits) -> Result<Option<Node>, Error> {
    read_first(text, limits, Unquoted::Typed)
}

/// Parses the first document like [`read_document_within`]. Also returns the position of the content after it, which is ignored: after `...`,
/// or another document.
pub fn read_document_and_rest(
    text: &[u8],
    limits: Limits,
) -> Result<(Option<Node>, Option<Position>), Error> {
    if let Some(node) = json::read_as_kubernetes(text, limits, Unquoted::Typed) {
        return Ok((Some(node), None));
    }
    let decoded = text::decode(text);
    let mut documents = Documents::new(&decoded, Position::START, limits);
    let Some(node) = documents.next_document()? else { return Ok((None, None)) };
    // Content after the document need not be YAML.
    let rest = documents.next_start().unwrap_or_else(|error| error.position);
    Ok((Some(node).filter(|node| !node.is_null()), rest))
}

/// Parses like [`read_document`], but scalars without quotes and tags are strings as written (`yes`, `0123`, `1e3`, `1.10`). The same
/// applies to keys and to JSON's numbers and booleans. Only `null`, `~` and the empty scalar are null. For values that are always strings.
pub fn read_document_of_texts(text: &[u8]) -> Result<Option<Node>, Error> {
    read_first(text, LIMITS, Unquoted::Texts)
}

/// Parses all documents like [`read_document_of_texts`]. Empty and `null` documents are left out.
pub fn read_documents_of_texts(text: &[u8]) -> Result<Vec<Node>, Error> {
    read_all(text, LIMITS, Unquoted::Texts)
}

/// Parses all documents of a file, with positions from the beginning of the file. Empty and `null` documents are left out.
pub fn read_documents(text: &[u8]) -> Result<Vec<Node>, Error> {
    read_documents_within(text, LIMITS)
}

/// Parses like [`read_documents`], with other limits for each document.
pub fn read_documents_within(text: &[u8], limits: Limits) -> Result<Vec<Node>, Error> {
    read_all(text, limits, Unquoted::Typed)
}

fn read_all(text: &[u8], limits: Limits, unquoted: Unquoted) -> Result<Vec<Node>, Error> {
    if let Some(node) = json::read_as_kubernetes(text, limits, unquoted) {
        return Ok(vec![node]);
    }
    let decoded = text::decode(text);
    let mut documents = Documents::new(&decoded, Position::START, limits).with_unquoted(unquoted);
    let mut nodes = Vec::new();
    while let Some(node) = documents.next_document()? {
        if !node.is_null() {
            nodes.push(node);
        }
    }
    Ok(nodes)
}

fn read_first(text: &[u8], limits: Limits, unquoted: Unquoted) -> Result<Option<Node>, Error> {
    if let Some(node) = json::read_as_kubernetes(text, limits, unquoted) {
        return Ok(Some(node));
    }
    let decoded = text::decode(text);
    let mut documents = Documents::new(&decoded, Position::START, limits).with_unquoted(unquoted);
    Ok(documents.next_document()?.filter(|node| !node.is_null()))
}

/// Parses all documents of a text without a byte-order mark, including `null` ones. Also returns whether it is one JSON value.
pub(crate) fn all_documents(text: &str) -> Result<(Vec<Node>, bool), Error> {
    if let Some(node) = json::read_as_kubernetes(text.as_bytes(), LIMITS, Unquoted::Typed) {
        return Ok((vec![node], true));
    }
    let decoded = text::Decoded { text: text.into(), broken: None };
    let mut documents = Documents::new(&decoded, Position::START, LIMITS);
    let mut nodes = Vec::new();
    while let Some(node) = documents.next_document()? {
        nodes.push(node);
    }
    Ok((nodes, false))
}

#[cfg(test)]
mod tests;
