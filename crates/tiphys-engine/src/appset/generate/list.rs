//! The `list` generator.

use serde_json::{Map, Value};
use tiphys_model::resources::ListGenerator;
use tiphys_yaml::read_document;

use super::{Sets, Stop};
use crate::appset::{ParameterSet, TemplateMode};

/// Returns the elements. With fasttemplate, their values are strings, except those of `elementsYaml`.
pub(super) fn run(mode: TemplateMode, list: &ListGenerator) -> Sets {
    let mut sets = Vec::new();
    for element in &list.elements {
        let element = element.as_object().cloned().unwrap_or_default();
        let values = match mode {
            TemplateMode::Go => element,
            TemplateMode::Fast => strings(element)?,
        };
        sets.push(ParameterSet { values, ..ParameterSet::default() });
    }
    sets.extend(elements_yaml(&list.elements_yaml)?);
    Ok(sets)
}

/// Returns an element with `values` flattened.
fn strings(element: Map<String, Value>) -> Result<Map<String, Value>, Stop> {
    // The error that Argo CD wraps here is empty.
    let no_string = || Stop::failed("error parsing value as string %!w(<nil>)");
    let mut flat = Map::new();
    for (key, value) in element {
        match value {
            Value::Object(values) if key == "values" => {
                for (key, value) in values {
                    let value = value.as_str().ok_or_else(no_string)?;
                    flat.insert(format!("values.{key}"), Value::from(value));
                }
            }
            _ if key == "values" => return Err(Stop::failed("error parsing values map")),
            Value::String(_) => {
                flat.insert(key, value);
            }
            _ => return Err(no_string()),
        }
    }
    Ok(flat)
}

fn elements_yaml(yaml: &str) -> Sets {
    let failed = |message: &str| Stop::failed(format!("error unmarshling decoded ElementsYaml {message}"));
    let of_json = |found: &str, expected: &str| {
        failed(&format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type {expected}"
        ))
    };
    let document = read_document(yaml.as_bytes());
    let document =
        document.map_err(|error| failed(&format!("error converting YAML to JSON: yaml: {error}")))?;
    let items = match document.map(|document| document.to_any_value()) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(other) => return Err(of_json(go_type(&other), "[]map[string]interface {}")),
    };
    let set = |item: Value| match item {
        Value::Object(values) => Ok(ParameterSet { values, ..ParameterSet::default() }),
        Value::Null => Ok(ParameterSet::default()),
        other => Err(of_json(go_type(&other), "map[string]interface {}")),
    };
    items.into_iter().map(set).collect()
}

/// Returns the word of Go's JSON decoder for the type of a value.
pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
