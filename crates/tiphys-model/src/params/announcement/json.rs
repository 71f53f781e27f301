//! Serialization of announcements to JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Announcement, ItemType};

impl Serialize for Announcement {
    /// Fields are in the order of Argo CD's message, then `choices`. As in Argo CD's REST API, empty ones are omitted, so an empty default
    /// is indistinguishable from a missing one.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        text(&mut out, "name", Some(&self.name))?;
        text(&mut out, "title", self.title.as_deref())?;
        text(&mut out, "tooltip", self.tooltip.as_deref())?;
        if self.required == Some(true) {
            out.serialize_entry("required", &true)?;
        }
        text(&mut out, "itemType", self.item_type.as_ref().map(ItemType::word).as_deref())?;
        text(&mut out, "collectionType", Some(self.collection_type.word()))?;
        text(&mut out, "string", self.string.as_deref())?;
        if let Some(array) = self.array.as_ref().filter(|array| !array.is_empty()) {
            out.serialize_entry("array", array)?;
        }
        if let Some(map) = self.map.as_ref().filter(|map| !map.is_empty()) {
            out.serialize_entry("map", map)?;
        }
        if !self.choices.is_empty() {
            out.serialize_entry("choices", &self.choices)?;
        }
        out.end()
    }
}

fn text<M: SerializeMap>(out: &mut M, key: &str, value: Option<&str>) -> Result<(), M::Error> {
    match value {
        None | Some("") => Ok(()),
        Some(value) => out.serialize_entry(key, value),
    }
}
