//! The forms of values that plugins get.

use std::collections::BTreeMap;

use serde_json::Value;
use tiphys_helm_values::typed_scalar;
use tiphys_model::params::Parameter;
use tiphys_yaml::write_go_json;

use super::ValueProblem;
use crate::jsonpath::printed;

/// How Helm gets strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strings {
    /// As they are.
    Keep,
    /// Typed as `--set` types them, except that `null` stays a string.
    AsSet,
}

/// Returns the parameter of the Helm plugin: its value as JSON. With `force_string`, maps and lists are strings of compact JSON.
pub(super) fn helm_parameter(name: String, value: &Value, strings: Strings, force_string: bool) -> Parameter {
    let typed = match value {
        Value::Object(_) | Value::Array(_) if !force_string => value.clone(),
        Value::Object(_) | Value::Array(_) => Value::String(write_go_json(value)),
        // `--set` has no other numbers than integers.
        Value::Number(_) | Value::Bool(_) | Value::String(_) | Value::Null => {
            let text = printed(value);
            let typed = (strings == Strings::AsSet).then(|| typed_scalar(text.clone()).to_json_value());
            typed.filter(|typed| !typed.is_null()).unwrap_or(Value::String(text))
        }
    };
    Parameter { name, string: Some(write_go_json(&typed)), ..Parameter::default() }
}

/// Returns the parameter of any other plugin: a string, or a list or map of strings.
pub(super) fn plugin_parameter(
    name: String,
    value: &Value,
    force_string: bool,
) -> Result<Parameter, ValueProblem> {
    let parameter = Parameter { name, ..Parameter::default() };
    let item = |value: &Value| match value {
        Value::Object(_) | Value::Array(_) => Err(ValueProblem::Nested),
        scalar => Ok(printed(scalar)),
    };
    Ok(match value {
        Value::Array(items) if !force_string => {
            Parameter { array: Some(items.iter().map(item).collect::<Result<_, _>>()?), ..parameter }
        }
        Value::Object(entries) if !force_string => {
            let entries = entries.iter().map(|(key, value)| Ok((key.clone(), item(value)?)));
            Parameter { map: Some(entries.collect::<Result<BTreeMap<_, _>, _>>()?), ..parameter }
        }
        value => Parameter { string: Some(printed(value)), ..parameter },
    })
}
