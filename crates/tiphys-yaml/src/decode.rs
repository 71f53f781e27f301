//! Reading typed fields out of a [`Node`] as Go's `encoding/json` reads them into a struct: keys match in any letter case,
//! `null` leaves a field unset, types are strict, the last of several equal keys wins.

use std::collections::{BTreeMap, HashSet};

use crate::{Data, Entry, Key, Node, Position};

/// A field that has the wrong type, or a document that is no object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {}{message}", position.line, position.column, named(path))]
pub struct DecodeError {
    /// Where the offending value begins.
    pub position: Position,
    /// Path of the field, as `spec.generate.command[1]`.
    pub path: String,
    /// What is wrong, for instance `expected a string, found a number`.
    pub message: String,
}

impl DecodeError {
    /// The error of a value that has another type than the one that is due, which is given in words with an article.
    pub fn mismatch(node: &Node, path: &str, due: &str) -> Self {
        // The most frequent mistake: `1.0`, `yes` or `y` that is meant as a text.
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

/// A document has no path to name.
fn named(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

/// A mapping whose fields are read by name; it remembers which ones were asked for, so that the rest can be reported.
#[derive(Debug)]
pub struct Object<'a> {
    entries: Vec<&'a Entry>,
    position: Position,
    path: String,
    known: Vec<&'static str>,
}

impl<'a> Object<'a> {
    /// Takes a mapping apart. `path` is what error texts call it; empty for a document. `null` is an empty object.
    ///
    /// Keys that occur twice are read one over the other, as Go reads JSON. A document that was YAML goes through
    /// [`Node::deduplicated`] first, as Kubernetes' does.
    pub fn new(node: &'a Node, path: impl Into<String>) -> Result<Self, DecodeError> {
        Self::overlaid(&[node], path)
    }

    /// As [`Object::new`], of several mappings of which each is read over the ones before it.
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

    /// Path of this object.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Path of a field, as error texts call it.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Where this object begins.
    pub fn position(&self) -> Position {
        self.position
    }

    /// All values of the key in the order of the document, `null` ones included; the key is now known.
    pub fn all(&mut self, key: &'static str) -> Vec<&'a Node> {
        self.known.push(key);
        self.entries
            .iter()
            .filter(|entry| names_equal(&entry.key.text, key))
            .map(|entry| &entry.value)
            .collect()
    }

    /// The last value of the key that is not `null`.
    pub fn get(&mut self, key: &'static str) -> Option<&'a Node> {
        self.all(key).into_iter().rfind(|node| !node.is_null())
    }

    /// A text.
    pub fn text(&mut self, key: &'static str) -> Result<Option<&'a str>, DecodeError> {
        self.last_of(key, "a string", Node::as_str)
    }

    /// A boolean.
    pub fn boolean(&mut self, key: &'static str) -> Result<Option<bool>, DecodeError> {
        self.last_of(key, "a boolean", |node| match node.data {
            Data::Bool(value) => Some(value),
            _ => None,
        })
    }

    /// A list of texts; a `null` item is an empty text, as in Go. Of several lists the last counts, and a `null` in place of
    /// the list takes earlier ones away; a `null` item leaves what an earlier list had in its place.
    pub fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, DecodeError> {
        let path = self.path_of(key);
        // Go decodes into the memory of the earlier list, also beyond the end of a shorter one in between.
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

    /// A mapping from text to text; a `null` value is an empty text, as in Go. Several are merged, but a `null` in place of the
    /// mapping takes earlier ones away.
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

    /// A list of any values: the last one, `None` if that is `null`. (Go reads the items of several lists one over the other;
    /// who needs that takes [`Object::all`] and [`Object::overlaid`].)
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

    /// An object; `None` if it is absent or `null`. Several of one key are merged, the later fields winning, as in Go.
    pub fn object(&mut self, key: &'static str) -> Result<Option<Object<'a>>, DecodeError> {
        let nodes: Vec<&Node> = self.all(key).into_iter().filter(|node| !node.is_null()).collect();
        if nodes.is_empty() {
            return Ok(None);
        }
        Object::overlaid(&nodes, self.path_of(key)).map(Some)
    }

    /// The keys that were asked for, in the order in which each was first asked for.
    pub fn known(&self) -> Vec<&'static str> {
        let mut known: Vec<&'static str> = Vec::with_capacity(self.known.len());
        for key in &self.known {
            if !known.contains(key) {
                known.push(key);
            }
        }
        known
    }

    /// The entries whose keys nobody asked for.
    pub fn unknown(&self) -> Vec<&'a Entry> {
        let unknown = |entry: &&&Entry| !self.known.iter().any(|known| names_equal(&entry.key.text, known));
        self.entries.iter().filter(unknown).copied().collect()
    }

    /// The keys that occur more than once, with their later positions.
    pub fn duplicates(&self) -> Vec<&'a Key> {
        let mut seen = HashSet::with_capacity(self.entries.len());
        self.entries
            .iter()
            .map(|entry| &entry.key)
            .filter(|key| !seen.insert(key.text.chars().map(folded).collect::<String>()))
            .collect()
    }

    /// The last value that is not `null`. All of them must have the type: Go remembers the first error and goes on.
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

/// Whether Go's JSON decoder takes `a` and `b` for the same field name: simple case folding, `ſ` and the Kelvin sign included.
pub fn names_equal(a: &str, b: &str) -> bool {
    a == b || a.chars().map(folded).eq(b.chars().map(folded))
}

/// One character for all that differ in case only. Beyond ASCII this is exact for what folds into ASCII, which is what field
/// names are made of.
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
