//! Merging static and dynamic announcements.

use std::collections::BTreeMap;

use crate::params::{Announcement, CollectionType};

/// Merges announcements (proposal, "How will the UI know what parameters may be set"). Static entries come first, in file order. A name in
/// both lists is one entry at its first position; fields set in the dynamic one win.
///
/// Duplicate names within a list are merged by the same rule: fields set in the later one win. A field is replaced as a whole: a later map
/// replaces an earlier one, and their keys are not merged.
pub fn merge_announcements(fixed: Vec<Announcement>, dynamic: Vec<Announcement>) -> Vec<Announcement> {
    let mut merged: Vec<Announcement> = Vec::with_capacity(fixed.len() + dynamic.len());
    let mut indexes: BTreeMap<String, usize> = BTreeMap::new();
    for announcement in fixed.into_iter().chain(dynamic) {
        if let Some(&index) = indexes.get(&announcement.name) {
            overlay(&mut merged[index], announcement);
        } else {
            indexes.insert(announcement.name.clone(), merged.len());
            merged.push(announcement);
        }
    }
    merged
}

fn overlay(below: &mut Announcement, above: Announcement) {
    let Announcement {
        name: _,
        title,
        tooltip,
        required,
        item_type,
        collection_type,
        string,
        array,
        map,
        choices,
    } = above;
    below.title = title.or(below.title.take());
    below.tooltip = tooltip.or(below.tooltip.take());
    below.required = required.or(below.required);
    below.item_type = item_type.or(below.item_type.take());
    if collection_type != CollectionType::Absent {
        below.collection_type = collection_type;
    }
    below.string = string.or(below.string.take());
    below.array = array.or(below.array.take());
    below.map = map.or(below.map.take());
    if !choices.is_empty() {
        below.choices = choices;
    }
}

#[cfg(test)]
mod tests;
