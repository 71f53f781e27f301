//! An object while changes are applied to it: its entries in order, with an index by key.

use std::collections::{HashMap, HashSet};

use super::{Content, Draft, NOTHING};
use crate::Node;
use crate::edit::NewValue;
use crate::reader::spans::{Child, Tree};

/// The entries of an object, including removed ones and merge keys.
#[derive(Debug, Default)]
pub(in crate::edit) struct Object<'a> {
    pub(in crate::edit) entries: Vec<Entry<'a>>,
    /// Indexes of the entries of each key, except removed ones. The last one is effective.
    indexes: HashMap<String, Vec<usize>>,
    /// Merged values of keys without an entry.
    merged: HashMap<&'a str, &'a Node>,
}

#[derive(Debug)]
pub(in crate::edit) struct Entry<'a> {
    /// The index of the child in the text; `None` if it is new.
    pub(in crate::edit) from: Option<usize>,
    /// `None` for a merge key.
    pub(in crate::edit) key: Option<String>,
    /// `None` if it was removed.
    pub(in crate::edit) value: Option<Draft<'a>>,
}

/// Whether a key existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// It existed, possibly as a merged one. Those cannot be removed here, so the final comparison fails.
    Key,
    Nothing,
}

impl<'a> Object<'a> {
    /// Returns an object. `children` are its entries in the text; `None` if it is a copy.
    pub(super) fn of(nodes: &'a [crate::Entry], children: Option<&[Child]>) -> Self {
        match children {
            Some(children) => Self::of_text(nodes, children),
            None => Self::of_copy(nodes),
        }
    }

    fn of_copy(nodes: &'a [crate::Entry]) -> Self {
        let mut object = Self::default();
        for entry in nodes {
            let value = Draft { origin: None, content: Content::Same(&entry.value) };
            // Of duplicate keys, the last is effective.
            *object.get_or_add(&entry.key.text) = value;
        }
        object
    }

    fn of_text(nodes: &'a [crate::Entry], children: &[Child]) -> Self {
        // Of duplicate keys, the last is effective.
        let mut values: HashMap<&str, &Node> =
            nodes.iter().map(|entry| (entry.key.text.as_str(), &entry.value)).collect();
        let mut object = Self::default();
        for (index, child) in children.iter().enumerate() {
            let key = child.key.as_ref().and_then(|key| key.text.clone());
            let node = key.as_ref().and_then(|key| values.get(key.as_str())).copied().unwrap_or(&NOTHING);
            let value = Draft { origin: Some(child.value), content: Content::Same(node) };
            object.push(Some(index), key, value);
        }
        values.retain(|key, _| !object.indexes.contains_key(*key));
        object.merged = values;
        object
    }

    /// Returns the value of a key.
    pub(super) fn get(&mut self, key: &str) -> Option<&mut Draft<'a>> {
        let at = self.index_of(key)?;
        self.entries.get_mut(at)?.value.as_mut()
    }

    /// Returns the value of a key, which is added if it is missing.
    pub(super) fn get_or_add(&mut self, key: &str) -> &mut Draft<'a> {
        let null = || Draft::flat(NewValue::Null);
        let at = match self.index_of(key) {
            Some(at) => at,
            None => self.push(None, Some(key.to_owned()), null()),
        };
        self.entries[at].value.get_or_insert_with(null)
    }

    /// Removes a key with its duplicates.
    pub(super) fn remove(&mut self, key: &str) -> Removed {
        match self.indexes.remove(key) {
            Some(indexes) => {
                for at in indexes {
                    self.entries[at].value = None;
                }
                Removed::Key
            }
            None if self.merged.contains_key(key) => Removed::Key,
            None => Removed::Nothing,
        }
    }

    /// Sets the entries. Existing keys keep their order, new ones are appended.
    pub(super) fn assign(&mut self, values: &[(String, NewValue)], tree: &Tree) {
        let wanted: HashSet<&str> = values.iter().map(|(key, _)| key.as_str()).collect();
        for entry in &mut self.entries {
            if let Some(key) = &entry.key
                && !wanted.contains(key.as_str())
            {
                entry.value = None;
                self.indexes.remove(key);
            }
        }
        for (key, value) in values {
            self.get_or_add(key).assign(value, tree);
        }
    }

    pub(super) fn has_merges(&self) -> bool {
        self.entries.iter().any(|entry| entry.key.is_none())
    }

    /// Returns the index of a key's entry. A merged entry is copied first.
    fn index_of(&mut self, key: &str) -> Option<usize> {
        if let Some(node) = self.merged.remove(key) {
            let copy = Draft { origin: None, content: Content::Same(node) };
            return Some(self.push(None, Some(key.to_owned()), copy));
        }
        self.indexes.get(key)?.last().copied()
    }

    fn push(&mut self, from: Option<usize>, key: Option<String>, value: Draft<'a>) -> usize {
        let at = self.entries.len();
        if let Some(key) = &key {
            self.indexes.entry(key.clone()).or_default().push(at);
        }
        self.entries.push(Entry { from, key, value: Some(value) });
        at
    }
}
