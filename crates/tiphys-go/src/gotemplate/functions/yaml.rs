//! YAML, as Argo CD and Helm add it to sprig.

mod plain;
mod write;

use serde_json::Value as Json;
use tiphys_yaml::{Data, Node, read_document, read_document_within, write_go_json};

use super::{Call, Failure, Outcome, fail};
use crate::gotemplate::ConvertError;
use crate::gotemplate::value::{List, Map, Value};

pub(super) fn to_yaml(call: &mut Call<'_>) -> Outcome {
    let value = call.value(0);
    let json = match value.to_json_within(call.budget(), 0) {
        Err(error @ (ConvertError::Limit(_) | ConvertError::Unsupported(_))) => return Err(error.into()),
        Err(error @ ConvertError::Number(_)) => return fail(format!("error marshaling into JSON: {error}")),
        Ok(json) => json,
    };
    let yaml = written(&json)?;
    Ok(yaml.strip_suffix('\n').unwrap_or(&yaml).into())
}

/// Writes a value as YAML without a final line break; nothing if that fails, as Helm does.
pub(crate) fn yaml_of(value: &Value) -> String {
    let yaml = value.to_json().ok().and_then(|json| written(&json).ok()).unwrap_or_default();
    yaml.strip_suffix('\n').unwrap_or(&yaml).to_owned()
}

/// Writes JSON as YAML. As in Go, it is read as YAML first, which changes or refuses some control characters.
fn written(json: &Json) -> Result<String, Failure> {
    let json = write_go_json(json);
    check_characters(&json).or_else(fail)?;
    let node = read_document(json.as_bytes()).map_err(|error| {
        if error.is_limit() {
            Failure::unsupported(error.to_string())
        } else {
            Failure::Message(error.to_string())
        }
    })?;
    Ok(write::write(&node.map_or(Json::Null, |node| node.to_value())))
}

/// Checks that YAML permits all characters, as Go's reader does.
fn check_characters(text: &str) -> Result<(), String> {
    let is_allowed = |character: char| {
        matches!(character,
            '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
    };
    if text.chars().all(is_allowed) { Ok(()) } else { Err("control characters are not allowed".to_owned()) }
}

/// Reads the first document; `None` if it is empty or null.
fn read(call: &mut Call<'_>) -> Result<Option<Node>, Failure> {
    let text = call.string(0);
    call.budget().take_bytes(text.len())?;
    let limits = call.budget().yaml_limits();
    if let Err(problem) = check_characters(&text.lossy()) {
        return fail(format!("error converting YAML to JSON: yaml: {problem}"));
    }
    let node = read_document_within(&text, limits)
        .or_else(|error| fail(format!("error converting YAML to JSON: {error}")))?
        .map(Node::deduplicated);
    Ok(node.filter(|node| !node.is_null()))
}

/// Fails because the document has another type.
fn mismatch(node: &Node, expected: &str) -> Outcome {
    let found = node.json_type();
    fail(format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type {expected}"
    ))
}

pub(super) fn from_yaml(call: &mut Call<'_>) -> Outcome {
    match read(call)? {
        None => Ok(Value::Map(Map::new(std::collections::BTreeMap::new()))),
        Some(node) if matches!(node.data, Data::Mapping(_)) => {
            super::json::from_node(call.budget(), &node, 0)
        }
        Some(node) => mismatch(&node, "map[string]interface {}"),
    }
}

pub(super) fn from_yaml_array(call: &mut Call<'_>) -> Outcome {
    match read(call)? {
        None => Ok(Value::List(List::new(Vec::new()))),
        Some(node) if matches!(node.data, Data::Sequence(_)) => {
            super::json::from_node(call.budget(), &node, 0)
        }
        Some(node) => mismatch(&node, "[]interface {}"),
    }
}
