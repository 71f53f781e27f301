//! Strings for people and documents: escaped, so that nothing in them controls a terminal or a CI system.

use std::borrow::Borrow;

use serde_json::Value;
use tiphys_process::{escape_json, escape_text};

/// Returns a name on one line. Line breaks and control characters become escapes, so that two different names never look the same.
pub fn one_line(name: &str) -> String {
    escape_text(&name.replace('\n', "\\n").replace('\t', "\\t"))
}

/// Returns a list of names for a warning: the first eight, each on one line, and the number of the others.
pub fn listed(names: &[String]) -> String {
    /// Names that are listed.
    const NAMES_MAX: usize = 8;
    let listed = names.iter().take(NAMES_MAX).map(|name| one_line(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// Returns a value as indented, escaped JSON with a final newline.
pub fn json_text(value: &Value) -> String {
    let mut text = escape_json(&serde_json::to_string_pretty(value).unwrap_or_default());
    text.push('\n');
    text
}

/// Returns objects as YAML documents separated by `---`.
pub fn yaml_documents(objects: impl IntoIterator<Item: Borrow<Value>>) -> String {
    objects
        .into_iter()
        .map(|object| tiphys_yaml::write_yaml(object.borrow()))
        .collect::<Vec<_>>()
        .join("---\n")
}

/// Returns objects as a Kubernetes `List`.
pub fn json_list(objects: &[Value]) -> Value {
    serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects})
}
