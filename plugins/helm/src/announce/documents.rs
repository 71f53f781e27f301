//! The documents of a text with values, with the lines of their values.

use std::cell::OnceCell;
use std::collections::HashMap;

use tiphys_helm_values::{HelmVersion, Map, PathItem, Value, ValuesDocument, read_values_documents};
use tiphys_yaml::{Data, LIMITS, Limits, Node};

use super::entries;

/// The rules by which a text is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) version: HelmVersion,
    /// Maximum number of keys and values of a document. Larger ones have no lines.
    pub(super) nodes_max: usize,
}

/// The documents of one text, which are parsed when they are needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents(OnceCell<Vec<Document>>);

/// A document.
#[derive(Clone, Debug)]
struct Document {
    values: Value,
    lines: Lines,
}

/// The line of a key or an item, and of those below it.
#[derive(Clone, Debug, Default)]
struct Lines {
    line: usize,
    below: HashMap<PathItem, Lines>,
}

/// A value in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// The line of its key or item, from 1.
    pub(super) line: usize,
    /// The value as text; `None` if it is null.
    pub(super) text: Option<String>,
}

impl Documents {
    /// Returns the value at a path in each document that has one, the last document first: it wins. A null above the path hides earlier
    /// documents. Empty for a string that is not YAML: it fails in `announce`.
    pub(super) fn written(&self, text: &[u8], reading: Reading, path: &[PathItem]) -> Vec<Written> {
        let last = self.last_first(text, reading);
        let seen = last.take_while(|document| document.null_above(path).is_none());
        seen.filter_map(|document| document.find(path)).collect()
    }

    /// Returns the number of items of the path to a null above the value, as [`null_above`].
    pub(super) fn null_above(&self, text: &[u8], reading: Reading, path: &[PathItem]) -> Option<usize> {
        self.last_first(text, reading).find_map(|document| document.null_above(path))
    }

    fn last_first(&self, text: &[u8], reading: Reading) -> impl Iterator<Item = &Document> {
        self.0.get_or_init(|| read(text, reading).unwrap_or_default()).iter().rev()
    }
}

/// Returns the number of items of a path that lead to a null above its value. Such a null removes the value from the layers below.
pub(super) fn null_above(values: &Map, path: &[PathItem]) -> Option<usize> {
    let Some((PathItem::Key(first), rest)) = path.split_first() else { return None };
    let mut value = values.get(first)?;
    for (item, depth) in rest.iter().zip(1..) {
        if *value == Value::Null {
            return Some(depth);
        }
        value = entries::part(value, item)?;
    }
    None
}

fn read(text: &[u8], Reading { version, nodes_max }: Reading) -> Option<Vec<Document>> {
    let documents = read_values_documents(text, version, Limits { nodes_max, ..LIMITS }).ok()?;
    documents.map(|document| Document::of(&document.ok()?)).collect()
}

impl Document {
    fn of(ValuesDocument { node, lines_before, .. }: &ValuesDocument) -> Option<Self> {
        let lines = Lines::of(node, *lines_before, lines_before + node.position.line);
        Some(Self { values: Value::from_node(node).ok()?, lines })
    }

    fn null_above(&self, path: &[PathItem]) -> Option<usize> {
        null_above(self.values.as_map()?, path)
    }

    fn find(&self, path: &[PathItem]) -> Option<Written> {
        let (mut value, mut lines) = (&self.values, &self.lines);
        for item in path {
            value = entries::part(value, item)?;
            lines = lines.below.get(item)?;
        }
        let text = match value {
            Value::List(_) | Value::Map(_) => Some(entries::json(value).to_string()),
            scalar => entries::text(scalar),
        };
        Some(Written { line: lines.line, text })
    }
}

impl Lines {
    fn of(node: &Node, lines_before: usize, line: usize) -> Self {
        let at = |node: &Node, line: usize| Self::of(node, lines_before, lines_before + line);
        let below = match &node.data {
            Data::Mapping(entries) => {
                let of_entry = |entry: &tiphys_yaml::Entry| {
                    (PathItem::Key(entry.key.text.clone()), at(&entry.value, entry.key.position.line))
                };
                entries.iter().map(of_entry).collect()
            }
            Data::Sequence(items) => {
                let of_item =
                    |(index, item): (usize, &Node)| (PathItem::Index(index), at(item, item.position.line));
                items.iter().enumerate().map(of_item).collect()
            }
            _ => HashMap::new(),
        };
        Self { line, below }
    }
}

#[cfg(test)]
mod tests;
