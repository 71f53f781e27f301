//! Joining static and dynamic announcements.

use std::collections::BTreeMap;

use crate::{Announcement, CollectionType};

/// Static entries first, in file order, then dynamic ones; one name in both is one entry, at its first place, the dynamic one's
/// fields winning where they are set (proposal, "How will the UI know what parameters may be set").
///
/// A name that comes twice in one list is joined by the same rule: one entry at its first place, the fields of the later one winning
/// where they are set. Fields win whole: a later map replaces an earlier one, its keys are not mixed.
pub fn merge_announcements(fixed: Vec<Announcement>, dynamic: Vec<Announcement>) -> Vec<Announcement> {
    let mut merged: Vec<Announcement> = Vec::with_capacity(fixed.len() + dynamic.len());
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for announcement in fixed.into_iter().chain(dynamic) {
        if let Some(&place) = places.get(&announcement.name) {
            overlay(&mut merged[place], announcement);
        } else {
            places.insert(announcement.name.clone(), merged.len());
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
