//! JSON: strict parsing, and writing byte for byte as Go's `json.Marshal` does.

mod parse;
mod write;

use crate::scalar::Unquoted;
use crate::{Error, LIMITS, Limits, Node, Position, text};

pub(crate) use parse::{Numbers, Parser};
pub(crate) use write::{Form, float_text, with_even_tie, write_node};
pub use write::{write_go_json, write_go_string};

/// Parses one strict JSON text without comments or trailing content, as Go does: lone surrogates and invalid UTF-8 bytes become U+FFFD, and
/// numbers outside the range of a float are errors. Positions and all duplicate keys are kept. Nesting is limited by [`LIMITS`] (Go:
/// 10,000 levels), since processing a document takes stack.
pub fn read_json(text: &[u8]) -> Result<Node, Error> {
    read(text, Numbers::Json)
}

/// Parses JSON like [`read_json`] as Go decodes it into a variable of any type: `-0` is a float, which keeps its sign.
pub fn read_json_as_any(text: &[u8]) -> Result<Node, Error> {
    read(text, Numbers::Any)
}

fn read(text: &[u8], numbers: Numbers) -> Result<Node, Error> {
    let mut parser = Parser::new(text, Position::START, LIMITS, numbers);
    let node = parser.value()?;
    parser.end()?;
    Ok(node)
}

/// Parses a text that is one JSON list or object, if the YAML parser would give the same result or fail. `None` if the YAML parser must be
/// used.
pub(crate) fn read_as_kubernetes(bytes: &[u8], limits: Limits, unquoted: Unquoted) -> Option<Node> {
    let text = std::str::from_utf8(text::without_bom(bytes)).ok()?;
    if !text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with(['{', '[']) {
        return None;
    }
    let mut parser =
        Parser::new(text.as_bytes(), Position::START, limits, Numbers::Yaml).with_unquoted(unquoted);
    let node = parser.value().ok()?;
    parser.end().ok()?;
    if has_yaml_line_breaks(text) && yaml_accepts(bytes, limits) {
        return None;
    }
    Some(node)
}

/// Returns whether the text has a character that is a line break in YAML 1.1 but not in JSON.
pub(crate) fn has_yaml_line_breaks(text: &str) -> bool {
    text.contains(['\u{85}', '\u{2028}', '\u{2029}'])
}

fn yaml_accepts(bytes: &[u8], limits: Limits) -> bool {
    let decoded = text::decode(bytes);
    crate::reader::Documents::new(&decoded, Position::START, limits).next_document().is_ok()
}

#[cfg(test)]
mod tests;
