//! Lists that Go decodes over one another.

use tiphys_yaml::{Data, DecodeError, Node};

/// A list of structs from several files. Items of an earlier, longer list reappear under a later one, as in Go's memory.
pub(crate) struct Overlaid<'a> {
    field: &'static str,
    items: Vec<Vec<&'a Node>>,
    length: Option<usize>,
}

impl<'a> Overlaid<'a> {
    pub(crate) fn new(field: &'static str) -> Self {
        Self { field, items: Vec::new(), length: None }
    }

    /// Decodes a list over the ones before it. `null` removes them.
    pub(crate) fn add(&mut self, list: &'a Node) -> Result<(), DecodeError> {
        let items = match &list.data {
            Data::Null => {
                *self = Self::new(self.field);
                return Ok(());
            }
            Data::Sequence(items) => items,
            _ => return Err(DecodeError::mismatch(list, self.field, "a list")),
        };
        if items.is_empty() {
            self.items.clear();
        }
        self.items.resize_with(self.items.len().max(items.len()), Vec::new);
        for (item, layers) in items.iter().zip(&mut self.items) {
            if item.is_null() {
                layers.clear();
            } else {
                layers.push(item);
            }
        }
        self.length = Some(items.len());
        Ok(())
    }

    /// Returns the objects of each item, which are decoded over one another; a `null` item has none. `None` without a list.
    pub(crate) fn items(&self) -> Option<&[Vec<&'a Node>]> {
        self.items.get(..self.length?)
    }
}
