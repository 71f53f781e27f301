//! An untyped document with the position of every value and key.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use crate::Float;
use crate::decode::names_equal;
use crate::json::Form;

/// A position in a text. Both numbers count from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The beginning of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Returns the position that is `lines` below and `columns` to the right. The column counts from this one if `lines` is 0, else from
    /// the beginning of the line.
    #[must_use]
    pub(crate) fn offset(self, lines: usize, columns: usize) -> Self {
        let column = if lines == 0 { self.column + columns } else { columns + 1 };
        Self { line: self.line + lines, column }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Position of the first character. An implicit null has the position at which a value would begin.
    pub position: Position,
    /// The value.
    pub data: Data,
}

/// The value of a [`Node`], in JSON's types, because Kubernetes converts all YAML to JSON first.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `null`, `~` or an empty scalar.
    Null,
    /// A YAML 1.1 boolean, including `yes`, `on`, `y` and the like.
    Bool(bool),
    /// An integer in the range of [`i64`].
    Integer(i64),
    /// An integer above [`i64::MAX`] in the range of [`u64`].
    Unsigned(u64),
    /// Any other number.
    Float(Float),
    /// A string.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// An object. Keys may be duplicate; readers that follow Go use the last one.
    Mapping(Vec<Entry>),
}

/// A key of a mapping with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, converted to a string as in Kubernetes: `true: 1` has the key `true`.
    pub key: Key,
    /// The value.
    pub value: Node,
}

/// The key of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key as a string.
    pub text: String,
    /// Position of the first character.
    pub position: Position,
}

impl From<&Value> for Node {
    /// Converts a JSON value. Every position is [`Position::START`].
    fn from(value: &Value) -> Self {
        let position = Position::START;
        let data = match value {
            Value::Null => Data::Null,
            Value::Bool(value) => Data::Bool(*value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Data::Integer(integer),
                (None, Some(integer)) => Data::Unsigned(integer),
                (None, None) => Data::Float(number.as_f64().unwrap_or_default().into()),
            },
            Value::String(text) => Data::String(text.clone()),
            Value::Array(items) => Data::Sequence(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                let entry = |(key, value): (&String, &Value)| Entry {
                    key: Key { text: key.clone(), position },
                    value: Self::from(value),
                };
                Data::Mapping(map.iter().map(entry).collect())
            }
        };
        Self { position, data }
    }
}

impl Node {
    /// Returns the value of the last entry with exactly this key, if this is a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.data {
            Data::Mapping(entries) => entries.iter().rev().find(|e| e.key.text == key).map(|e| &e.value),
            _ => None,
        }
    }

    /// Returns the values of all entries with this key, which is matched like in Go's JSON decoder, see [`names_equal`].
    pub fn all<'n>(&'n self, key: &'static str) -> impl Iterator<Item = &'n Self> {
        let entries = match &self.data {
            Data::Mapping(entries) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().filter(move |entry| names_equal(&entry.key.text, key)).map(|entry| &entry.value)
    }

    /// Returns the string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    /// Returns the node at a path of keys and decimal list indexes.
    pub fn at<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Option<&Node> {
        path.into_iter().try_fold(self, |node, step| match &node.data {
            Data::Mapping(_) => node.get(step),
            Data::Sequence(items) => step.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        })
    }

    /// Returns the type of this value with an article, for messages.
    pub fn type_words(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) => "a number",
            Data::String(_) => "a string",
            Data::Sequence(_) => "a list",
            Data::Mapping(_) => "an object",
        }
    }

    /// Returns the type of this value in errors of Go's JSON decoder: `null`, `bool`, `number`, `string`, `array` or `object`.
    pub fn json_type(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "bool",
            Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) => "number",
            Data::String(_) => "string",
            Data::Sequence(_) => "array",
            Data::Mapping(_) => "object",
        }
    }

    /// Returns the second and later occurrences of duplicate keys, in document order, each with its path
    /// (`spec.source.plugin.parameters[0].map.key`).
    pub fn repeated_keys(&self) -> Vec<(String, &Key)> {
        let mut found = Vec::new();
        self.find_repeated_keys(&mut Vec::new(), &mut found);
        found
    }

    fn find_repeated_keys<'a>(&'a self, path: &mut Vec<Step<'a>>, found: &mut Vec<(String, &'a Key)>) {
        match &self.data {
            Data::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(Step::Index(index));
                    item.find_repeated_keys(path, found);
                    path.pop();
                }
            }
            Data::Mapping(entries) => {
                let mut seen = HashSet::with_capacity(entries.len());
                for Entry { key, value } in entries {
                    path.push(Step::Key(&key.text));
                    if !seen.insert(key.text.as_str()) {
                        found.push((path_text(path), key));
                    }
                    value.find_repeated_keys(path, found);
                    path.pop();
                }
            }
            Data::Null
            | Data::Bool(_)
            | Data::Integer(_)
            | Data::Unsigned(_)
            | Data::Float(_)
            | Data::String(_) => {}
        }
    }

    /// Returns the JSON value. Of duplicate keys, the last is used. As in Kubernetes' unstructured objects, numbers that Go would write
    /// without a decimal point are integers if they fit [`i64`], all others floats.
    pub fn to_value(&self) -> Value {
        self.value(float_value)
    }

    /// Returns the JSON value as Go decodes it into a variable of any type, which differs from [`Node::to_value`] in negative zero: it is a
    /// float. JSON is read with [`crate::read_json_as_any`] for that.
    pub fn to_any_value(&self) -> Value {
        let is_negative_zero = |value: f64| value == 0.0 && value.is_sign_negative();
        self.value(|value| if is_negative_zero(value) { Value::from(value) } else { float_value(value) })
    }

    fn value(&self, float: impl Fn(f64) -> Value + Copy) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Integer(value) => Value::Number((*value).into()),
            #[expect(clippy::cast_precision_loss, reason = "Kubernetes keeps such numbers as floats too")]
            Data::Unsigned(value) => float_value(*value as f64),
            Data::Float(value) => float(value.value()),
            Data::String(text) => Value::String(text.clone()),
            Data::Sequence(items) => Value::Array(items.iter().map(|item| item.value(float)).collect()),
            Data::Mapping(entries) => {
                let mut map = Map::new();
                for entry in entries {
                    map.insert(entry.key.text.clone(), entry.value.value(float));
                }
                Value::Object(map)
            }
        }
    }

    /// Returns this node as it is after Kubernetes' conversion from YAML to JSON: of duplicate keys the last is kept, and keys are sorted
    /// by bytes. Typed fields ([`crate::Object`]) of a YAML document must be read from this. Documents in JSON are read without it, because
    /// Go decodes duplicate keys on top of each other.
    #[must_use]
    pub fn deduplicated(self) -> Self {
        let data = match self.data {
            Data::Sequence(items) => Data::Sequence(items.into_iter().map(Node::deduplicated).collect()),
            Data::Mapping(mut entries) => {
                // The sort is stable, so the last of equal keys is the last in the document.
                entries.sort_by(|a, b| a.key.text.cmp(&b.key.text));
                entries.reverse();
                entries.dedup_by(|next, kept| next.key.text == kept.key.text);
                entries.reverse();
                for entry in &mut entries {
                    let value = std::mem::replace(&mut entry.value.data, Data::Null);
                    entry.value.data =
                        Self { position: entry.value.position, data: value }.deduplicated().data;
                }
                Data::Mapping(entries)
            }
            data => data,
        };
        Self { position: self.position, data }
    }

    /// Returns compact JSON as Go's `json.Marshal` writes it: sorted keys, the last of duplicate ones, and exact 64-bit integers.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        crate::json::write_node(&mut out, self, Form::Go);
        out
    }

    /// Returns compact JSON with numbers as written in the document and only the necessary escapes: sorted keys, the last of duplicate
    /// ones.
    pub fn to_written_json(&self) -> String {
        let mut out = String::new();
        crate::json::write_node(&mut out, self, Form::Written);
        out
    }
}

/// One step of a path.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Formats a path for messages.
fn path_text(path: &[Step<'_>]) -> String {
    path.iter().fold(String::new(), |text, step| match step {
        Step::Key(key) if text.is_empty() => (*key).to_owned(),
        Step::Key(key) => text + "." + key,
        Step::Index(index) => text + "[" + &index.to_string() + "]",
    })
}

fn float_value(value: f64) -> Value {
    match crate::json::float_text(value).parse::<i64>() {
        Ok(integer) => Value::from(integer),
        Err(_) => Number::from_f64(value).map_or(Value::Null, Value::Number),
    }
}
