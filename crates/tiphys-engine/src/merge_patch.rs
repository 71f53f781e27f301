//! JSON merge patch (RFC 7396) on documents with positions.

use std::collections::BTreeMap;

use tiphys_yaml::{Data, Entry, Node};

/// What a document becomes by a patch: `null` removes a key, objects grow together, everything else is replaced. Of equal keys
/// the last counts, and results have each key once, sorted as Go writes them: a reader that takes keys in any letter case depends on
/// their order. Values keep the position of the text that they come from.
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

/// The last entry of each key.
fn last_of_each(entries: &[Entry]) -> BTreeMap<&str, Entry> {
    entries.iter().map(|entry| (entry.key.text.as_str(), entry.clone())).collect()
}

#[cfg(test)]
mod tests;
