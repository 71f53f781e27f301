//! JSON: strict reading, and writing byte for byte as Go's `json.Marshal` does.

mod parse;
mod write;

use crate::scalar::Unquoted;
use crate::{Error, LIMITS, Limits, Node, Position, text};

pub(crate) use parse::{OutOfRange, Parser};
pub(crate) use write::{float_text, with_even_tie, write_node};
pub use write::{write_go_json, write_go_string};

/// Reads one strict JSON text (no comments, no trailing text) as Go does: lone surrogates and bytes that are not UTF-8 become
/// U+FFFD, numbers beyond a float's range are errors. Positions are kept, and of duplicate keys all. Nesting is bounded by
/// [`LIMITS`] (Go: 10,000 levels), since what is done with a document takes stack.
pub fn read_json(text: &[u8]) -> Result<Node, Error> {
    let mut parser = Parser::new(text, Position::START, LIMITS, OutOfRange::Refused);
    let node = parser.value()?;
    parser.end()?;
    Ok(node)
}

/// Reads a text that is one JSON list or object, where the result is what the YAML reader would give, or where that one would
/// fail. `None`: it is for the YAML reader.
pub(crate) fn read_as_kubernetes(bytes: &[u8], limits: Limits, unquoted: Unquoted) -> Option<Node> {
    let text = std::str::from_utf8(text::without_bom(bytes)).ok()?;
    if !text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with(['{', '[']) {
        return None;
    }
    let mut parser =
        Parser::new(text.as_bytes(), Position::START, limits, OutOfRange::Text).with_unquoted(unquoted);
    let node = parser.value().ok()?;
    parser.end().ok()?;
    if yaml_reads_otherwise(text) && yaml_accepts(bytes, limits) {
        return None;
    }
    Some(node)
}

/// Whether the text has one of the characters that are line breaks in YAML 1.1 and none in JSON.
pub(crate) fn yaml_reads_otherwise(text: &str) -> bool {
    text.contains(['\u{85}', '\u{2028}', '\u{2029}'])
}

fn yaml_accepts(bytes: &[u8], limits: Limits) -> bool {
    let decoded = text::decode(bytes);
    crate::reader::Documents::new(&decoded, Position::START, limits).next_document().is_ok()
}

#[cfg(test)]
mod tests;
