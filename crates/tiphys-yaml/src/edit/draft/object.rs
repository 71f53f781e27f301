//! An object while changes are applied to it: its entries in their order, found by their keys.

use std::collections::{HashMap, HashSet};

use super::{Content, Draft, NOTHING};
use crate::Node;
use crate::edit::NewValue;
use crate::reader::spans::{Child, Tree};

/// The entries of an object, those that were removed and merge keys included.
#[derive(Debug, Default)]
pub(in crate::edit) struct Object<'a> {
    pub(in crate::edit) entries: Vec<Entry<'a>>,
    /// The entries of each key that were not removed. The last one counts.
    places: HashMap<String, Vec<usize>>,
    /// What merges bring for keys that have no entry.
    merged: HashMap<&'a str, &'a Node>,
}

#[derive(Debug)]
pub(in crate::edit) struct Entry<'a> {
    /// Which child it is in the text; `None` if it is new.
    pub(in crate::edit) from: Option<usize>,
    /// `None` for a merge key.
    pub(in crate::edit) key: Option<String>,
    /// `None` if it was removed.
    pub(in crate::edit) value: Option<Draft<'a>>,
}

/// Whether there was something to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// What a merge brings counts too. It cannot be removed here; the comparison at the end says so.
    Key,
    Nothing,
}

impl<'a> Object<'a> {
    /// `children`: the entries as they stand in the text; `None` if they stand elsewhere.
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
            // Of keys that occur twice the last counts.
            *object.get_or_add(&entry.key.text) = value;
        }
        object
    }

    fn of_text(nodes: &'a [crate::Entry], children: &[Child]) -> Self {
        // Of keys that occur twice the last counts.
        let mut values: HashMap<&str, &Node> =
            nodes.iter().map(|entry| (entry.key.text.as_str(), &entry.value)).collect();
        let mut object = Self::default();
        for (index, child) in children.iter().enumerate() {
            let key = child.key.as_ref().and_then(|key| key.text.clone());
            let node = key.as_ref().and_then(|key| values.get(key.as_str())).copied().unwrap_or(&NOTHING);
            let value = Draft { origin: Some(child.value), content: Content::Same(node) };
            object.push(Some(index), key, value);
        }
        values.retain(|key, _| !object.places.contains_key(*key));
        object.merged = values;
        object
    }

    /// The value of a key.
    pub(super) fn get(&mut self, key: &str) -> Option<&mut Draft<'a>> {
        let at = self.place(key)?;
        self.entries.get_mut(at)?.value.as_mut()
    }

    /// The value of a key, which is added if it is missing.
    pub(super) fn get_or_add(&mut self, key: &str) -> &mut Draft<'a> {
        let null = || Draft::flat(NewValue::Null);
        let at = match self.place(key) {
            Some(at) => at,
            None => self.push(None, Some(key.to_owned()), null()),
        };
        self.entries[at].value.get_or_insert_with(null)
    }

    /// Removes a key, if it was written twice both.
    pub(super) fn remove(&mut self, key: &str) -> Removed {
        match self.places.remove(key) {
            Some(places) => {
                for at in places {
                    self.entries[at].value = None;
                }
                Removed::Key
            }
            None if self.merged.contains_key(key) => Removed::Key,
            None => Removed::Nothing,
        }
    }

    /// Makes the entries those values, in the order that they have; what is added comes last.
    pub(super) fn assign(&mut self, values: &[(String, NewValue)], tree: &Tree) {
        let wanted: HashSet<&str> = values.iter().map(|(key, _)| key.as_str()).collect();
        for entry in &mut self.entries {
            if let Some(key) = &entry.key
                && !wanted.contains(key.as_str())
            {
                entry.value = None;
                self.places.remove(key);
            }
        }
        for (key, value) in values {
            self.get_or_add(key).assign(value, tree);
        }
    }

    pub(super) fn has_merges(&self) -> bool {
        self.entries.iter().any(|entry| entry.key.is_none())
    }

    /// The entry of a key. What a merge brings gets one, as a copy.
    fn place(&mut self, key: &str) -> Option<usize> {
        if let Some(node) = self.merged.remove(key) {
            let copy = Draft { origin: None, content: Content::Same(node) };
            return Some(self.push(None, Some(key.to_owned()), copy));
        }
        self.places.get(key)?.last().copied()
    }

    fn push(&mut self, from: Option<usize>, key: Option<String>, value: Draft<'a>) -> usize {
        let at = self.entries.len();
        if let Some(key) = &key {
            self.places.entry(key.clone()).or_default().push(at);
        }
        self.entries.push(Entry { from, key, value: Some(value) });
        at
    }
}
