//! YAML, as Argo CD adds it to sprig.

mod plain;
mod write;

use serde_json::Value as Json;
use tiphys_yaml::{Data, Node, read_document, read_document_within, write_go_json};

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::ConvertError;
use crate::gotemplate::value::{List, Map, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("toYaml", &[Type::Any], |call| {
        let value = call.value(0);
        let json = match value.to_json_within(call.budget(), 0) {
            Err(ConvertError::Limit(limit)) => return Err(limit.into()),
            Err(error) => return fail(format!("error marshaling into JSON: {error}")),
            Ok(json) => write_go_json(&json),
        };
        // As in Go, the JSON is read as YAML first, which changes or refuses some control characters.
        let node = read_document(json.as_bytes()).or_else(|error| fail(error.to_string()))?;
        let yaml = write::write(&node.map_or(Json::Null, |node| node.to_value()));
        Ok(yaml.strip_suffix('\n').unwrap_or(&yaml).into())
    }),
    Function::new("fromYaml", &[Type::String], from_yaml),
    Function::new("fromYamlArray", &[Type::String], from_yaml_array),
];

/// Reads the first document; `None` if it is empty or null.
fn read(call: &mut Call<'_>) -> Result<Option<Node>, Failure> {
    let text = call.string(0);
    call.budget().take_bytes(text.len())?;
    let limits = call.budget().yaml_limits();
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

fn from_yaml(call: &mut Call<'_>) -> Outcome {
    match read(call)? {
        None => Ok(Value::Map(Map::new(std::collections::BTreeMap::new()))),
        Some(node) if matches!(node.data, Data::Mapping(_)) => {
            super::json::from_node(call.budget(), &node, 0)
        }
        Some(node) => mismatch(&node, "map[string]interface {}"),
    }
}

fn from_yaml_array(call: &mut Call<'_>) -> Outcome {
    match read(call)? {
        None => Ok(Value::List(List::new(Vec::new()))),
        Some(node) if matches!(node.data, Data::Sequence(_)) => {
            super::json::from_node(call.budget(), &node, 0)
        }
        Some(node) => mismatch(&node, "[]interface {}"),
    }
}
