//! A value in Helm, which distinguishes integers from the command line from those of files.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use tiphys_go::gotemplate::go_string;
use tiphys_yaml::{Data, Error, Node, write_go_json};

/// The entries of an object, in the order in which Go prints them.
pub type Map = BTreeMap<String, Value>;

/// Maximum nesting of lists and objects in a file. Helm has no such limit; a thousand levels overflow a thread's stack.
pub const DEPTH_MAX: usize = 250;

/// A value of Helm.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`. In a user's values it deletes the chart's default.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer from `--set`: Go's `int64`. Templates print all digits.
    Integer(i64),
    /// A number from a file: Go's `float64`, for integers too. Templates print 1000000 as `1e+06`. Always finite.
    Float(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Map(Map),
}

impl Value {
    /// Converts YAML as Helm does: every number is a float, and the last of equal keys wins. Numbers without a JSON form (`.inf`, `.nan`)
    /// are errors, and so is nesting deeper than [`DEPTH_MAX`].
    pub fn from_node(node: &Node) -> Result<Self, Error> {
        Self::from_node_within(node, DEPTH_MAX)
    }

    fn from_node_within(node: &Node, levels: usize) -> Result<Self, Error> {
        let from_node = |node: &Node| {
            let inner = levels.checked_sub(1).ok_or_else(|| Error::too_deep(node.position, DEPTH_MAX))?;
            Self::from_node_within(node, inner)
        };
        Ok(match &node.data {
            Data::Null => Self::Null,
            Data::Bool(value) => Self::Bool(*value),
            #[expect(clippy::cast_precision_loss, reason = "Helm keeps these numbers as floats, too")]
            Data::Integer(value) => Self::Float(*value as f64),
            #[expect(clippy::cast_precision_loss, reason = "Helm keeps these numbers as floats, too")]
            Data::Unsigned(value) => Self::Float(*value as f64),
            Data::Float(value) if value.value().is_finite() => Self::Float(value.value()),
            Data::Float(_) => return Err(Error::at(node.position, "the number is not finite")),
            Data::String(text) => Self::Text(text.clone()),
            Data::Sequence(items) => Self::List(items.iter().map(from_node).collect::<Result<_, _>>()?),
            Data::Mapping(entries) => {
                let entries =
                    entries.iter().map(|entry| Ok((entry.key.text.clone(), from_node(&entry.value)?)));
                Self::Map(entries.collect::<Result<_, Error>>()?)
            }
        })
    }

    /// Converts to JSON, without the difference between the two kinds of numbers.
    pub fn to_json_value(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Integer(value) => (*value).into(),
            Self::Float(value) => (*value).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.iter().map(Self::to_json_value).collect(),
            Self::Map(map) => map.iter().map(|(key, value)| (key.clone(), value.to_json_value())).collect(),
        }
    }

    /// Formats compact JSON like Helm's `toJson`: `1` and `1.0` of a file are both `1`, and 1000000 has no exponent.
    pub fn to_json(&self) -> String {
        write_go_json(&self.to_json_value())
    }

    /// The entries of an object.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The type's name in Go's errors.
    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "nil",
            Self::Bool(_) => "bool",
            Self::Integer(_) => "int64",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
            Self::List(_) => GO_LIST,
            Self::Map(_) => GO_MAP,
        }
    }
}

/// Go's name for the type of lists.
pub(crate) const GO_LIST: &str = "[]interface {}";
/// Go's name for the type of objects.
pub(crate) const GO_MAP: &str = "map[string]interface {}";

/// As a template prints it (`{{ .Values.x }}`, Go's `%v`): `<nil>`, `1e+06`, `[a b]`, `map[a:1]`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("<nil>"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&go_string(&(*value).into())),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index > 0 { " " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Map(map) => {
                f.write_str("map[")?;
                for (index, (key, value)) in map.iter().enumerate() {
                    write!(f, "{}{key}:{value}", if index > 0 { " " } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}
