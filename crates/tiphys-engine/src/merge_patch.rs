//! JSON merge patch (RFC 7396) on documents with positions.

use std::collections::BTreeMap;

use tiphys_yaml::{Data, Entry, Node};

/// Returns the result of a merge patch: `null` removes a key, objects are merged, everything else is replaced. Of duplicate keys the last
/// takes effect. Keys in the result are unique and sorted as Go writes them, because the order matters to a case-insensitive reader. Values
/// keep their position in the document that they come from.
pub(crate) fn merge_patch(target: Option<&Node>, patch: &Node) -> Node {
    let Data::Mapping(changes) = &patch.data else { return patch.clone() };
    let mut merged = match target.map(|node| &node.data) {
        Some(Data::Mapping(entries)) => last_of_each(entries),
        _ => BTreeMap::new(),
    };
    for (text, change) in last_of_each(changes) {
        if change.value.is_null() {
            merged.remove(text);
            continue;
        }
        let value = merge_patch(merged.get(text).map(|entry| &entry.value), &change.value);
        match merged.get_mut(text) {
            Some(entry) => entry.value = value,
            None => {
                merged.insert(text, Entry { key: change.key, value });
            }
        }
    }
    Node { position: patch.position, data: Data::Mapping(merged.into_values().collect()) }
}

/// Returns the last entry of each key.
fn last_of_each(entries: &[Entry]) -> BTreeMap<&str, Entry> {
    entries.iter().map(|entry| (entry.key.text.as_str(), entry.clone())).collect()
}

#[cfg(test)]
mod tests;
