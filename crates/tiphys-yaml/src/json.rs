//! JSON: strict reading, and writing byte for byte as Go's `json.Marshal` does.

use serde_json::Value;

use crate::{Error, Node};

/// Reads one strict JSON text (no comments, no trailing text). Positions are kept, and of duplicate keys all.
pub fn read_json(text: &[u8]) -> Result<Node, Error> {
    todo!("{text:?}")
}

/// Writes a value as Go's `json.Marshal` writes a map: compact, keys sorted by bytes, `<`, `>`, `&`, U+2028 and U+2029 escaped,
/// floats in Go's shortest form.
pub fn write_go_json(value: &Value) -> String {
    todo!("{value:?}")
}

/// Appends a text as a JSON string with Go's escapes.
pub fn write_go_string(out: &mut String, text: &str) {
    todo!("{out} {text}")
}
