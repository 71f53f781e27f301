//! Values to write into a text.

use serde_json::{Number, Value};

use crate::{Data, Node};

/// A JSON value that preserves the order of keys.
#[derive(Clone, Debug, PartialEq)]
pub enum NewValue {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<NewValue>),
    /// An object. Of duplicate keys, the last is used.
    Object(Vec<(String, NewValue)>),
}

impl From<&str> for NewValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for NewValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Value> for NewValue {
    /// Converts a JSON value. Keys keep the order of the map.
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(map) => {
                Self::Object(map.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl From<&Node> for NewValue {
    fn from(node: &Node) -> Self {
        match &node.data {
            Data::Null => Self::Null,
            Data::Bool(value) => Self::Bool(*value),
            Data::Integer(value) => Self::Number((*value).into()),
            Data::Unsigned(value) => Self::Number((*value).into()),
            // The parser rejects infinity and NaN.
            Data::Float(value) => Number::from_f64(value.value()).map_or(Self::Null, Self::Number),
            Data::String(text) => Self::Text(text.clone()),
            Data::Sequence(items) => Self::List(items.iter().map(Self::from).collect()),
            Data::Mapping(entries) => Self::Object(
                entries.iter().map(|entry| (entry.key.text.clone(), Self::from(&entry.value))).collect(),
            ),
        }
    }
}

impl NewValue {
    /// Returns the value as the parser reads it back.
    pub(super) fn data(&self) -> Data {
        match self {
            Self::Null => Data::Null,
            Self::Bool(value) => Data::Bool(*value),
            Self::Number(number) => number
                .as_i64()
                .map(Data::Integer)
                .or_else(|| number.as_u64().map(Data::Unsigned))
                .or_else(|| number.as_f64().map(|value| Data::Float(value.into())))
                .unwrap_or(Data::Null),
            Self::Text(text) => Data::String(text.clone()),
            Self::List(items) => Data::Sequence(items.iter().map(Self::node).collect()),
            Self::Object(entries) => Data::Mapping(
                entries
                    .iter()
                    .map(|(key, value)| crate::Entry {
                        key: crate::Key { text: key.clone(), position: crate::Position::START },
                        value: value.node(),
                    })
                    .collect(),
            ),
        }
    }

    fn node(&self) -> Node {
        Node { position: crate::Position::START, data: self.data() }
    }

    /// Returns whether any string in it has several lines.
    pub(super) fn has_lines(&self) -> bool {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => false,
            Self::Text(text) => text.contains('\n'),
            Self::List(items) => items.iter().any(Self::has_lines),
            Self::Object(entries) => entries.iter().any(|(_, value)| value.has_lines()),
        }
    }
}
