//! Decoding by the table, as Go's `encoding/json` decodes into its structs.
//!
//! Keys are case-insensitive, and an exact one is preferred. `null` leaves a scalar or a struct as it is, and clears a pointer, list or map.
//! Keys that name one field decode on top of each other, in the order of the document. Types are strict. Unknown fields are reported and
//! ignored.

use serde_json::{Map, Value};
use tiphys_yaml::{Data, DecodeError, Entry, Node, Step};

use super::{FieldPath, GoStruct, GoType, canonical};
use crate::resources::decode::UnknownField;

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedFields {
    /// The value in canonical form.
    pub value: Value,
    /// Fields that the struct does not have, in the order of decoding.
    pub unknown: Vec<UnknownField>,
}

/// A value has the wrong type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{go}")]
pub struct FieldError {
    /// The error as Go words it, such as
    /// `json: cannot unmarshal number into Go struct field ObjectMeta.metadata.annotations of type string`.
    pub go: String,
    /// The error with path and position, in our words.
    pub at: DecodeError,
}

/// Decodes a node. A YAML document must be passed through [`Node::deduplicated`] first, as in Kubernetes. Numbers with a zero fraction count
/// as integers, because the conversion from YAML writes them so.
pub fn decode_fields(kind: &'static GoStruct, node: &Node) -> Result<DecodedFields, Box<FieldError>> {
    let mut decoder = Decoder { path: Vec::new(), go_path: Vec::new(), owner: "", unknown: Vec::new() };
    let value = decoder.fields(kind, node, Value::Null)?;
    Ok(DecodedFields { value: canonical(kind, value), unknown: decoder.unknown })
}

/// Decodes a JSON value like [`decode_fields`]; its positions are meaningless.
pub fn decode_value(kind: &'static GoStruct, value: &Value) -> Result<DecodedFields, Box<FieldError>> {
    decode_fields(kind, &Node::from(value))
}

struct Decoder {
    path: Vec<Step>,
    /// The path in Go's errors: no indexes and keys of maps, but embedded structs.
    go_path: Vec<&'static str>,
    /// The struct that declares the field.
    owner: &'static str,
    unknown: Vec<UnknownField>,
}

impl Decoder {
    /// Decodes on top of an earlier value of the same field; `null` is the zero value.
    fn value(
        &mut self,
        kind: &'static GoType,
        node: &Node,
        earlier: Value,
    ) -> Result<Value, Box<FieldError>> {
        if node.is_null() {
            return Ok(match kind {
                GoType::Present(inner) => match inner.base() {
                    GoType::List(_) => Value::Array(Vec::new()),
                    _ => Value::Object(Map::new()),
                },
                GoType::Named(_, inner) => self.value(inner, node, earlier)?,
                GoType::String | GoType::Bool | GoType::Int64 | GoType::IntOrString | GoType::Struct(_) => {
                    earlier
                }
                _ => Value::Null,
            });
        }
        match (kind, &node.data) {
            (GoType::Named(name, inner), data) => match (inner.base(), data) {
                (GoType::List(_), Data::Sequence(_))
                | (GoType::Map(_), Data::Mapping(_))
                | (GoType::String, Data::String(_)) => self.value(inner, node, earlier),
                (base, _) => Err(self.mismatch(node, due(base), name).into()),
            },
            (GoType::Pointer(inner) | GoType::Present(inner), _) => self.value(inner, node, earlier),
            (GoType::String | GoType::Time | GoType::IntOrString, Data::String(text)) => {
                Ok(Value::from(text.as_str()))
            }
            (GoType::Bool, Data::Bool(value)) => Ok(Value::from(*value)),
            (GoType::Int64 | GoType::IntOrString, Data::Integer(_) | Data::Unsigned(_) | Data::Float(_)) => {
                let number = node.to_value();
                let is_valid = match kind {
                    GoType::Int64 => number.is_i64(),
                    _ => number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
                };
                if is_valid {
                    Ok(number)
                } else {
                    Err(self.mismatch(node, due(kind), &kind.go_name()).into())
                }
            }
            (GoType::Free(_), _) => Ok(node.to_value()),
            (GoType::Ignored(_), Data::Mapping(_)) => Ok(Value::Null),
            (GoType::Struct(of), Data::Mapping(_)) => self.fields(of, node, earlier),
            (GoType::List(item), Data::Sequence(nodes)) => {
                let mut earlier = match earlier {
                    Value::Array(items) => items,
                    _ => Vec::new(),
                }
                .into_iter();
                let mut items = Vec::with_capacity(nodes.len());
                for (index, node) in nodes.iter().enumerate() {
                    self.path.push(Step::Index(index));
                    items.push(self.value(item, node, earlier.next().unwrap_or_default())?);
                    self.path.pop();
                }
                Ok(Value::Array(items))
            }
            (GoType::Map(inner), Data::Mapping(entries)) => {
                let mut map = match earlier {
                    Value::Object(map) => map,
                    _ => Map::new(),
                };
                for Entry { key, value } in entries {
                    self.path.push(Step::Key(key.text.clone()));
                    let value = self.value(inner, value, Value::Null)?;
                    self.path.pop();
                    map.insert(key.text.clone(), value);
                }
                Ok(Value::Object(map))
            }
            _ => Err(self.mismatch(node, due(kind), &kind.go_name()).into()),
        }
    }

    fn fields(
        &mut self,
        of: &'static GoStruct,
        node: &Node,
        earlier: Value,
    ) -> Result<Value, Box<FieldError>> {
        let entries = match &node.data {
            Data::Mapping(entries) => entries.as_slice(),
            Data::Null => &[],
            _ => return Err(self.mismatch(node, "an object", of.name).into()),
        };
        let mut object = match earlier {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let (outer, go_length) = (self.owner, self.go_path.len());
        for Entry { key, value } in entries {
            self.path.push(Step::Key(key.text.clone()));
            if let Some(field) = of.field(&key.text) {
                self.owner = of.name;
                if !field.embedded.is_empty() {
                    self.go_path.push(field.embedded);
                }
                self.go_path.push(field.name);
                let earlier = object.remove(field.name).unwrap_or_default();
                let value = self.value(&field.kind, value, earlier)?;
                object.insert(field.name.to_owned(), value);
                self.go_path.truncate(go_length);
            } else {
                let path = FieldPath(self.path.clone()).to_string();
                let known = of.fields.iter().map(|field| field.name);
                self.unknown.push(UnknownField::new(path, &key.text, key.position, known));
            }
            self.path.pop();
        }
        self.owner = outer;
        Ok(Value::Object(object))
    }

    fn mismatch(&self, node: &Node, due: &str, go_type: &str) -> FieldError {
        let found = match &node.data {
            Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) if due.contains("integer") => {
                format!("number {}", node.to_json())
            }
            _ => node.json_type().to_owned(),
        };
        let target = if self.go_path.is_empty() {
            format!("Go value of type {go_type}")
        } else {
            let owner = self.owner.rsplit('.').next().unwrap_or_default();
            format!("Go struct field {owner}.{} of type {go_type}", self.go_path.join("."))
        };
        FieldError {
            go: format!("json: cannot unmarshal {found} into {target}"),
            at: DecodeError::mismatch(node, &FieldPath(self.path.clone()).to_string(), due),
        }
    }
}

/// Returns the expected type with an article, for messages.
fn due(kind: &GoType) -> &'static str {
    match kind {
        GoType::String => "a string",
        GoType::Time => "a time",
        GoType::Bool => "a boolean",
        GoType::Int64 => "an integer",
        GoType::IntOrString => "an integer or a string",
        GoType::List(_) => "a list",
        GoType::Pointer(inner) | GoType::Present(inner) | GoType::Named(_, inner) => due(inner),
        GoType::Map(_) | GoType::Struct(_) | GoType::Ignored(_) | GoType::Free(_) => "an object",
    }
}
