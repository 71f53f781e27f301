//! Conversion from and to JSON.

use std::collections::BTreeMap;

use serde_json::{Number, Value as Json};

use super::{List, ListType, Map, Named, Special, Str, Value};
use crate::gotemplate::functions::base64;
use crate::gotemplate::limits::{Budget, LimitError};

/// A value cannot be represented as JSON. The messages are those of Go's `encoding/json`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// Infinity or not a number.
    #[error("json: unsupported value: {0}")]
    Number(String),
    /// The value is nested too deeply or too large.
    #[error("the value {0}")]
    Limit(LimitError),
    /// Only the `helm` program knows how it writes this type.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
}

impl Value {
    /// Converts JSON. Every number becomes a `float64`. `string_maps` names the objects that are maps from string to string, by their
    /// keys joined with dots (`metadata.labels`); values in them that are not strings remain a map of any values.
    pub fn from_json(json: &Json, string_maps: &[&str]) -> Self {
        convert(json, string_maps, &mut String::new())
    }

    /// Converts an object as [`Value::from_json`] does.
    pub fn from_json_object(object: &serde_json::Map<String, Json>, string_maps: &[&str]) -> Self {
        convert_object(object, string_maps, &mut String::new())
    }

    /// Converts a value to JSON, as `json.Marshal` would.
    pub fn to_json(&self) -> Result<Json, ConvertError> {
        self.to_json_within(&mut Budget::new(crate::gotemplate::Limits::DEFAULT), 0)
    }

    /// Converts a value to JSON within limits.
    pub(crate) fn to_json_within(&self, budget: &mut Budget, level: usize) -> Result<Json, ConvertError> {
        budget.take(1).and_then(|()| budget.check_depth(level)).map_err(ConvertError::Limit)?;
        Ok(match self {
            Self::Nil => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Int(value) | Self::Int64(value) => Json::Number((*value).into()),
            Self::Byte(value) => Json::Number((*value).into()),
            Self::Unsigned(value) => Json::Number((*value).into()),
            Self::Float(value) => float(*value)?,
            Self::String(value) => {
                budget.take_bytes(value.len()).map_err(ConvertError::Limit)?;
                Json::String(decoded(value))
            }
            Self::List(list) if let ListType::Structs(name) = list.list_type() => {
                return Err(ConvertError::Unsupported(name));
            }
            Self::List(list) if list.is_nil() => Json::Null,
            Self::List(list) => {
                let items = list.items();
                let items: Result<_, _> =
                    items.iter().map(|item| item.to_json_within(budget, level + 1)).collect();
                Json::Array(items?)
            }
            Self::Map(map) if map.is_nil() => Json::Null,
            Self::Map(map) => {
                budget.take_map().map_err(ConvertError::Limit)?;
                let entries = map
                    .entries()
                    .into_iter()
                    .map(|(key, value)| Ok((decoded(&key), value.to_json_within(budget, level + 1)?)));
                Json::Object(entries.collect::<Result<_, _>>()?)
            }
            Self::Special(Special(Named::Date(date))) => Json::String(date.rfc3339()),
            Self::Special(Special(Named::Bytes(bytes))) => Json::String(base64(bytes)),
            Self::Special(Special(Named::Files(files))) => {
                let entries = files.0.iter();
                let encoded = entries.map(|(path, bytes)| (decoded(path), Json::String(base64(bytes))));
                Json::Object(encoded.collect())
            }
            Self::Special(Special(Named::Struct(of))) => {
                return Err(ConvertError::Unsupported(of.type_name));
            }
            Self::Special(special) => match special.0.integer() {
                Some(number) => Json::Number(number.into()),
                None => Json::String(special.0.to_string()),
            },
        })
    }

    /// Returns a copy that shares nothing with this value.
    pub(crate) fn copied(&self, budget: &mut Budget, level: usize) -> Result<Self, LimitError> {
        budget.take(1)?;
        budget.check_depth(level)?;
        Ok(match self {
            Self::List(list) if !list.is_nil() => {
                let items = list.items();
                let items: Result<_, _> = items.iter().map(|item| item.copied(budget, level + 1)).collect();
                Self::List(List::of(list.list_type(), items?))
            }
            Self::Map(map) if map.holds_strings() => {
                budget.take_map()?;
                budget.take(map.len())?;
                Self::Map(map.copied_strings())
            }
            Self::Map(map) if !map.is_nil() => {
                budget.take_map()?;
                let entries =
                    map.entries().into_iter().map(|(key, value)| Ok((key, value.copied(budget, level + 1)?)));
                let copy = Map::new(entries.collect::<Result<_, _>>()?);
                Self::Map(if map.is_chart_values() { copy.as_chart_values() } else { copy })
            }
            shared => shared.clone(),
        })
    }
}

impl Map {
    fn copied_strings(&self) -> Self {
        let strings = self.entries().into_iter().filter_map(|(key, value)| match value {
            Value::String(value) => Some((key, value)),
            _ => None,
        });
        Self::of_strings(strings)
    }
}

impl Value {
    /// Returns whether a string is invalid UTF-8, and whether one contains U+FFFD.
    pub(crate) fn replacements(&self) -> (bool, bool) {
        let of_string = |string: &Str| match std::str::from_utf8(string) {
            Ok(valid) => (false, valid.contains('\u{FFFD}')),
            Err(_) => (true, string.windows(3).any(|bytes| bytes == "\u{FFFD}".as_bytes())),
        };
        let both = |one: (bool, bool), other: (bool, bool)| (one.0 || other.0, one.1 || other.1);
        match self {
            Self::String(string) => of_string(string),
            Self::List(list) => list.items().iter().map(Self::replacements).fold((false, false), both),
            Self::Map(map) => {
                let entries = map.entries().into_iter();
                let found = entries.map(|(key, value)| both(of_string(&key), value.replacements()));
                found.fold((false, false), both)
            }
            _ => (false, false),
        }
    }
}

/// Decodes UTF-8. Each invalid byte becomes U+FFFD.
fn decoded(bytes: &Str) -> String {
    match std::str::from_utf8(bytes) {
        Ok(valid) => valid.to_owned(),
        Err(_) => crate::gotemplate::unicode::characters(bytes).map(|(_, c, _)| c).collect(),
    }
}

fn float(value: f64) -> Result<Json, ConvertError> {
    let unsupported = || ConvertError::Number(crate::gotemplate::number::general(value));
    Number::from_f64(value).map(Json::Number).ok_or_else(unsupported)
}

fn convert(json: &Json, string_maps: &[&str], path: &mut String) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(value) => Value::Float(value.as_f64().unwrap_or(f64::NAN)),
        Json::String(value) => Value::String(value.as_str().into()),
        Json::Array(items) => {
            // Paths name objects in objects only.
            Value::List(List::new(items.iter().map(|item| Value::from_json(item, &[])).collect()))
        }
        Json::Object(object) => convert_object(object, string_maps, path),
    }
}

fn convert_object(object: &serde_json::Map<String, Json>, string_maps: &[&str], path: &mut String) -> Value {
    if string_maps.contains(&path.as_str()) && object.values().all(Json::is_string) {
        let strings = object.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
        return Value::Map(Map::of_strings(strings.map(|(key, value)| (key.as_str().into(), value.into()))));
    }
    let mut entries = BTreeMap::new();
    for (key, value) in object {
        let length = path.len();
        if length > 0 {
            path.push('.');
        }
        path.push_str(key);
        entries.insert(Str::from(key.as_str()), convert(value, string_maps, path));
        path.truncate(length);
    }
    Value::Map(Map::new(entries))
}
