//! The control of a parameter, and its value as the control has it.

use serde_json::Value;
use tiphys_service::documents::ParameterDocument;

use super::draft::Entered;

/// The control of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Text, in one line or in several.
    Text,
    /// A decimal number.
    Number,
    /// `true` or `false`.
    Switch,
    /// One of the announced choices.
    Choice,
    /// A list of strings.
    List,
    /// A map of strings.
    Map,
    /// A list of strings that a chart has as JSON.
    JsonList,
    /// Any value of a chart, as YAML.
    Yaml,
}

impl Control {
    /// Returns the control of a parameter.
    pub(crate) fn of(parameter: &ParameterDocument) -> Self {
        let field = |name: &str| parameter.value.as_ref().is_some_and(|value| value.get(name).is_some());
        // A value that is set otherwise than announced is edited as it is.
        match parameter.collection_type.as_str() {
            _ if field("array") => return Self::List,
            _ if field("map") => return Self::Map,
            "array" | "map" if field("string") => return Self::Text,
            "array" => return Self::List,
            "map" => return Self::Map,
            _ => {}
        }
        if !parameter.choices.is_empty() {
            return Self::Choice;
        }
        match parameter.item_type.as_str() {
            "number" => Self::Number,
            "boolean" => Self::Switch,
            "array" if strings(parameter).is_some() => Self::JsonList,
            "array" | "object" => Self::Yaml,
            _ => Self::Text,
        }
    }

    /// Returns the effective value as the control has it. None if there is no value.
    pub(crate) fn shown(self, parameter: &ParameterDocument) -> Option<Entered> {
        let value = parameter.value.as_ref()?;
        match self {
            Self::JsonList => strings(parameter).map(Entered::List),
            Self::Yaml => {
                let json: Value = serde_json::from_str(text(value)?).ok()?;
                Some(Entered::Text(tiphys_yaml::write_yaml(&json)))
            }
            _ => entered(value),
        }
    }

    /// Whether the value is a single string in the form.
    pub(crate) fn is_single(self) -> bool {
        !matches!(self, Self::List | Self::Map | Self::JsonList)
    }
}

/// Returns a value of the API as a form has it: `{"string" | "array" | "map": …}`.
pub(crate) fn entered(value: &Value) -> Option<Entered> {
    let owned = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(list) = value.get("array").and_then(Value::as_array) {
        return Some(Entered::List(list.iter().map(owned).collect()));
    }
    if let Some(map) = value.get("map").and_then(Value::as_object) {
        return Some(Entered::Map(map.iter().map(|(key, value)| (key.clone(), owned(value))).collect()));
    }
    text(value).map(|text| Entered::Text(text.to_owned()))
}

fn text(value: &Value) -> Option<&str> {
    value.get("string")?.as_str()
}

/// Returns the items of a list of strings that a chart has as JSON. An empty list may be one of anything.
fn strings(parameter: &ParameterDocument) -> Option<Vec<String>> {
    let of = |value: &Option<Value>| serde_json::from_str::<Vec<String>>(text(value.as_ref()?)?).ok();
    let items = of(&parameter.value)?;
    let default = of(&parameter.default).unwrap_or_default();
    (!items.is_empty() || !default.is_empty()).then_some(items)
}
