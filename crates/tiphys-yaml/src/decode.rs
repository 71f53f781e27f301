//! Typed access to the fields of a [`Node`], as Go's `encoding/json` decodes them into a struct: keys are case-insensitive, `null` leaves a
//! field unset, types are strict, the last of duplicate keys wins.

use std::collections::{BTreeMap, HashSet};

use crate::{Data, Entry, Key, Node, Position};

/// A field has the wrong type, or the document is not an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {}{message}", position.line, position.column, path_prefix(path))]
pub struct DecodeError {
    /// Position of the invalid value.
    pub position: Position,
    /// Path of the field, such as `spec.generate.command[1]`.
    pub path: String,
    /// The error, such as `expected a string, found a number`.
    pub message: String,
}

impl DecodeError {
    /// Returns the error for a value of an unexpected type. `due` is the expected type with an article.
    pub fn mismatch(node: &Node, path: &str, due: &str) -> Self {
        // The most frequent mistake: `1.0`, `yes` or `y` where a string is expected.
        let is_unquoted =
            matches!(node.data, Data::Bool(_) | Data::Integer(_) | Data::Unsigned(_) | Data::Float(_));
        let remedy = if is_unquoted && due == "a string" { "; put it in quotes" } else { "" };
        Self {
            position: node.position,
            path: path.to_owned(),
            message: format!("expected {due}, found {}{remedy}", node.type_words()),
        }
    }
}

/// Formats a path as a prefix; empty for a document.
fn path_prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

/// A mapping whose fields are read by name. It records which ones were read, so that unknown ones can be reported.
#[derive(Debug)]
pub struct Object<'a> {
    entries: Vec<&'a Entry>,
    position: Position,
    path: String,
    known: Vec<&'static str>,
}

impl<'a> Object<'a> {
    /// Reads a mapping. `path` is its path in messages, empty for a document. `null` is an empty object.
    ///
    /// Duplicate keys are decoded on top of each other, as Go does for JSON. A YAML document must be passed through [`Node::deduplicated`]
    /// first, as in Kubernetes.
    pub fn new(node: &'a Node, path: impl Into<String>) -> Result<Self, DecodeError> {
        Self::overlaid(&[node], path)
    }

    /// Reads several mappings like [`Object::new`], each on top of the previous ones.
    pub fn overlaid(nodes: &[&'a Node], path: impl Into<String>) -> Result<Self, DecodeError> {
        let path = path.into();
        let position = nodes.last().map_or(Position::START, |node| node.position);
        let mut entries = Vec::new();
        for node in nodes {
            match &node.data {
                Data::Mapping(more) => entries.extend(more),
                Data::Null => {}
                _ => return Err(DecodeError::mismatch(node, &path, "an object")),
            }
        }
        Ok(Self { entries, position, path, known: Vec::new() })
    }

    /// Returns the path of this object.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the path of a field, for messages.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Returns the position of this object.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Returns the entries in document order.
    pub fn entries(&self) -> &[&'a Entry] {
        &self.entries
    }

    /// Returns all values of a key in document order, including `null`, and marks the key as known.
    pub fn all(&mut self, key: &'static str) -> Vec<&'a Node> {
        self.known.push(key);
        self.entries
            .iter()
            .filter(|entry| names_equal(&entry.key.text, key))
            .map(|entry| &entry.value)
            .collect()
    }

    /// Returns the last value of a key that is not `null`.
    pub fn get(&mut self, key: &'static str) -> Option<&'a Node> {
        self.all(key).into_iter().rfind(|node| !node.is_null())
    }

    /// Returns a string field.
    pub fn text(&mut self, key: &'static str) -> Result<Option<&'a str>, DecodeError> {
        self.last_of(key, "a string", Node::as_str)
    }

    /// Returns a boolean field.
    pub fn boolean(&mut self, key: &'static str) -> Result<Option<bool>, DecodeError> {
        self.last_of(key, "a boolean", |node| match node.data {
            Data::Bool(value) => Some(value),
            _ => None,
        })
    }

    /// Returns a list of strings. As in Go, a `null` item is an empty string. Of duplicate lists, the last wins. A `null` list discards
    /// earlier ones; a `null` item leaves the item of an earlier list.
    pub fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, DecodeError> {
        let path = self.path_of(key);
        // Go decodes into the memory of the earlier list, even beyond the end of a shorter list in between.
        let mut memory: Vec<&str> = Vec::new();
        let mut length = None;
        for node in self.all(key) {
            match &node.data {
                Data::Null => {
                    memory.clear();
                    length = None;
                }
                Data::Sequence(items) => {
                    if items.is_empty() {
                        memory.clear();
                    }
                    memory.resize(memory.len().max(items.len()), "");
                    for (index, (item, slot)) in items.iter().zip(&mut memory).enumerate() {
                        match &item.data {
                            Data::Null => {}
                            Data::String(text) => *slot = text,
                            _ => {
                                return Err(DecodeError::mismatch(
                                    item,
                                    &format!("{path}[{index}]"),
                                    "a string",
                                ));
                            }
                        }
                    }
                    length = Some(items.len());
                }
                _ => return Err(DecodeError::mismatch(node, &path, "a list of strings")),
            }
        }
        Ok(length.map(|length| memory.into_iter().take(length).map(str::to_owned).collect()))
    }

    /// Returns a mapping from strings to strings. As in Go, a `null` value is an empty string. Duplicate mappings are merged; a `null`
    /// mapping discards earlier ones.
    pub fn text_map(&mut self, key: &'static str) -> Result<Option<BTreeMap<String, String>>, DecodeError> {
        let path = self.path_of(key);
        let mut map: Option<BTreeMap<String, String>> = None;
        for node in self.all(key) {
            match &node.data {
                Data::Null => map = None,
                Data::Mapping(entries) => {
                    let map = map.get_or_insert_default();
                    for entry in entries {
                        let text = match &entry.value.data {
                            Data::Null => "",
                            Data::String(text) => text,
                            _ => {
                                let path = format!("{path}.{}", entry.key.text);
                                return Err(DecodeError::mismatch(&entry.value, &path, "a string"));
                            }
                        };
                        map.insert(entry.key.text.clone(), text.to_owned());
                    }
                }
                _ => return Err(DecodeError::mismatch(node, &path, "an object of strings")),
            }
        }
        Ok(map)
    }

    /// Returns the last list of a key, `None` if that is `null`. Go decodes the items of duplicate lists on top of each other; use
    /// [`Object::all`] and [`Object::overlaid`] for that.
    pub fn list(&mut self, key: &'static str) -> Result<Option<&'a [Node]>, DecodeError> {
        let path = self.path_of(key);
        let mut last = None;
        for node in self.all(key) {
            last = match &node.data {
                Data::Null => None,
                Data::Sequence(items) => Some(items.as_slice()),
                _ => return Err(DecodeError::mismatch(node, &path, "a list")),
            };
        }
        Ok(last)
    }

    /// Returns an object field; `None` if it is absent or `null`. As in Go, duplicates are merged and later fields win.
    pub fn object(&mut self, key: &'static str) -> Result<Option<Object<'a>>, DecodeError> {
        let nodes: Vec<&Node> = self.all(key).into_iter().filter(|node| !node.is_null()).collect();
        if nodes.is_empty() {
            return Ok(None);
        }
        Object::overlaid(&nodes, self.path_of(key)).map(Some)
    }

    /// Returns the keys that were read, in order of the first access.
    pub fn known(&self) -> Vec<&'static str> {
        let mut known: Vec<&'static str> = Vec::with_capacity(self.known.len());
        for key in &self.known {
            if !known.contains(key) {
                known.push(key);
            }
        }
        known
    }

    /// Returns the entries whose keys were not read.
    pub fn unknown(&self) -> Vec<&'a Entry> {
        let unknown = |entry: &&&Entry| !self.known.iter().any(|known| names_equal(&entry.key.text, known));
        self.entries.iter().filter(unknown).copied().collect()
    }

    /// Returns the second and later occurrences of duplicate keys.
    pub fn duplicates(&self) -> Vec<&'a Key> {
        let mut seen = HashSet::with_capacity(self.entries.len());
        self.entries
            .iter()
            .map(|entry| &entry.key)
            .filter(|key| !seen.insert(key.text.chars().map(folded).collect::<String>()))
            .collect()
    }

    /// Returns the last value that is not `null`. All values must have the type, because Go reports the first error after decoding all.
    fn last_of<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl Fn(&'a Node) -> Option<T>,
    ) -> Result<Option<T>, DecodeError> {
        let mut last = None;
        for node in self.all(key) {
            if !node.is_null() {
                let value =
                    read(node).ok_or_else(|| DecodeError::mismatch(node, &self.path_of(key), expected))?;
                last = Some(value);
            }
        }
        Ok(last)
    }
}

/// Returns whether Go's JSON decoder matches two field names: by simple case folding, including `ſ` and the Kelvin sign.
pub fn names_equal(a: &str, b: &str) -> bool {
    a == b || a.chars().map(folded).eq(b.chars().map(folded))
}

/// Returns one character for all that differ in case only. This is exact for characters that fold to ASCII, which is sufficient for field
/// names.
fn folded(character: char) -> char {
    match character {
        'ſ' => 's',
        '\u{212A}' => 'k',
        _ if character.is_ascii() => character.to_ascii_lowercase(),
        _ => {
            let mut lower = character.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(single), None) => single,
                _ => character,
            }
        }
    }
}

#[cfg(test)]
mod tests;
