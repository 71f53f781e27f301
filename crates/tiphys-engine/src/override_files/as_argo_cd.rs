//! Argo CD's result for an override file: Go decodes the patched source on top of the old one.
//!
//! Go's decoder leaves fields alone that the input does not mention, adds to maps, and fills list items in place. That includes items that
//! an earlier, shorter list had cut off. The result is used only to warn about differences.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tiphys_model::resources::{ApplicationSource, GoFields, GoStruct, GoType};
use tiphys_yaml::names_equal;

static SOURCE: GoType = GoType::Struct(&ApplicationSource::GO);

/// A source as Go's decoder keeps it in memory.
pub(super) struct Memory(Cell);

/// A field in memory, by its type.
enum Cell {
    /// The value is replaced.
    Whole(Value),
    /// Map entries are added or replaced, never removed.
    Entries(Map<String, Value>),
    /// Decoded field by field.
    Fields(&'static GoStruct, BTreeMap<&'static str, Cell>),
    /// Decoded item by item. `items` also contains items beyond `length`: Go truncates a slice without clearing its memory.
    Items { of: &'static GoType, items: Vec<Cell>, length: usize },
}

impl Memory {
    /// Returns the source before the first file.
    pub(super) fn of(value: &Value) -> Self {
        let mut memory = Self(Cell::empty(&SOURCE));
        memory.decode(value);
        memory
    }

    /// Decodes a patched source on top of this one.
    pub(super) fn decode(&mut self, value: &Value) {
        self.0.decode(value);
    }

    /// Returns the source as JSON, which is the target of the next patch.
    pub(super) fn to_value(&self) -> Value {
        // Empty fields are omitted, as in Argo CD.
        serde_json::to_value(self.to_source()).unwrap_or_default()
    }

    /// Returns the source. It can be decoded because the plain merge of the same file succeeded.
    pub(super) fn to_source(&self) -> ApplicationSource {
        ApplicationSource::of_json(&self.0.to_value()).unwrap_or_default()
    }
}

impl Cell {
    fn empty(kind: &'static GoType) -> Self {
        match kind.base() {
            GoType::Map(_) => Self::Entries(Map::new()),
            GoType::Struct(of) => Self::Fields(of, BTreeMap::new()),
            GoType::List(of) => Self::Items { of, items: Vec::new(), length: 0 },
            _ => Self::Whole(Value::Null),
        }
    }

    fn decode(&mut self, value: &Value) {
        match (self, value) {
            // `null` sets nothing.
            (_, Value::Null) => {}
            (Self::Whole(cell), value) => *cell = value.clone(),
            (Self::Entries(cell), Value::Object(map)) => cell.extend(map.clone()),
            (Self::Fields(of, cells), Value::Object(map)) => {
                for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
                    let own = || of.own.iter().find(|field| names_equal(field.name, key));
                    let (name, empty) = match (of.field(key), own()) {
                        (Some(field), _) => (field.name, Self::empty(&field.kind)),
                        (None, Some(own)) => (own.name, Self::Whole(Value::Null)),
                        (None, None) => continue,
                    };
                    cells.entry(name).or_insert(empty).decode(value);
                }
            }
            (Self::Items { of, items, length }, Value::Array(values)) => {
                // Go allocates a new slice for an empty list only; otherwise it reuses the memory.
                if values.is_empty() {
                    items.clear();
                }
                for (index, value) in values.iter().enumerate() {
                    if index == items.len() {
                        items.push(Self::empty(of));
                    }
                    items[index].decode(value);
                }
                *length = values.len();
            }
            // The plain merge already rejected values of another type.
            _ => {}
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Whole(value) => value.clone(),
            Self::Entries(map) => Value::Object(map.clone()),
            Self::Fields(_, cells) => {
                cells.iter().map(|(name, cell)| ((*name).to_owned(), cell.to_value())).collect()
            }
            Self::Items { items, length, .. } => items[..*length].iter().map(Self::to_value).collect(),
        }
    }
}
