//! A document with the place of every part, before any type is put on it.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

/// A place in a text; both numbers count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// Where a text begins.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The place that is this many lines below, and then this many characters to the right: of this column if the line is the
    /// same, else of the line's beginning.
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

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value begins. A null that nothing was written for stands where it would have begun.
    pub position: Position,
    /// The value.
    pub data: Data,
}

/// What a [`Node`] holds: JSON's types, since Kubernetes turns all YAML into JSON first.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `null`, `~` or nothing.
    Null,
    /// A YAML 1.1 boolean (`yes`, `on`, `y` and the like included).
    Bool(bool),
    /// An integer that fits 64 bits with a sign.
    Integer(i64),
    /// An integer above [`i64::MAX`] that fits 64 bits.
    Unsigned(u64),
    /// Any other number.
    Float(f64),
    /// A text.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// An object. Keys may occur twice; readers that follow Go take the last.
    Mapping(Vec<Entry>),
}

/// One key of a mapping and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, turned into a text as Kubernetes does (`true: 1` has the key `true`).
    pub key: Key,
    /// The value.
    pub value: Node,
}

/// A mapping's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key's text.
    pub text: String,
    /// Where the key begins.
    pub position: Position,
}

impl Node {
    /// The value of the last entry with exactly this key, if this is a mapping that has one.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.data {
            Data::Mapping(entries) => entries.iter().rev().find(|e| e.key.text == key).map(|e| &e.value),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    /// The node at a path of keys and list indices (written as decimal numbers), if there is one.
    pub fn at<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Option<&Node> {
        path.into_iter().try_fold(self, |node, step| match &node.data {
            Data::Mapping(_) => node.get(step),
            Data::Sequence(items) => step.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        })
    }

    /// The type of this value in words with an article, for errors that people read.
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

    /// The keys that their mapping has had before, in the order of the document, each with its path
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

    /// The JSON value without positions: of duplicate keys the last is kept; numbers that Go would write without a point are
    /// integers if they fit [`i64`], and all others floats, as in Kubernetes' unstructured objects (`spec/cmp.md` 14, row 6.6).
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Integer(value) => Value::Number((*value).into()),
            #[expect(clippy::cast_precision_loss, reason = "Kubernetes keeps such numbers as floats too")]
            Data::Unsigned(value) => float_value(*value as f64),
            Data::Float(value) => float_value(*value),
            Data::String(text) => Value::String(text.clone()),
            Data::Sequence(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Data::Mapping(entries) => {
                let mut map = Map::new();
                for entry in entries {
                    map.insert(entry.key.text.clone(), entry.value.to_value());
                }
                Value::Object(map)
            }
        }
    }

    /// This node as it is after Kubernetes turned YAML into JSON: of duplicate keys the last is kept, and keys stand in the
    /// order of their bytes. Reading typed fields ([`crate::Object`]) from YAML starts from here; from JSON it does not, since
    /// Go reads JSON's duplicates one over the other.
    #[must_use]
    pub fn deduplicated(self) -> Self {
        let data = match self.data {
            Data::Sequence(items) => Data::Sequence(items.into_iter().map(Node::deduplicated).collect()),
            Data::Mapping(mut entries) => {
                // The sort is stable, so that the last of equal keys is the one that was last in the document.
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

    /// Compact JSON as Go's `json.Marshal` writes it: keys sorted, of duplicate ones the last, integers of 64 bits kept.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        crate::json::write_node(&mut out, self);
        out
    }
}

/// One step on the way to a node.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A path as error texts write it.
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
