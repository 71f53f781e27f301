//! JSON merge patch (RFC 7396) on documents with positions.

use tiphys_yaml::{Data, Entry, Node};

/// What a document becomes by a patch: `null` removes a key, objects grow together, everything else is replaced. Of equal keys
/// the last counts, and results have each key once, sorted as Go writes them: a reader that takes keys in any letter case depends on
/// their order. Values keep the position of the text that they come from.
pub fn merge_patch(target: Option<&Node>, patch: &Node) -> Node {
    let Data::Mapping(changes) = &patch.data else { return patch.clone() };
    let mut entries = match target.map(|node| &node.data) {
        Some(Data::Mapping(entries)) => last_of_each(entries),
        _ => Vec::new(),
    };
    for change in last_of_each(changes) {
        let place = entries.iter().position(|entry| entry.key.text == change.key.text);
        if change.value.is_null() {
            entries.retain(|entry| entry.key.text != change.key.text);
            continue;
        }
        let value = merge_patch(place.map(|index| &entries[index].value), &change.value);
        match place {
            Some(index) => entries[index].value = value,
            None => entries.push(Entry { key: change.key, value }),
        }
    }
    entries.sort_by(|a, b| a.key.text.cmp(&b.key.text));
    Node { position: patch.position, data: Data::Mapping(entries) }
}

/// The last entry of each key, at the place of the key's first.
fn last_of_each(entries: &[Entry]) -> Vec<Entry> {
    let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        match kept.iter_mut().find(|other| other.key.text == entry.key.text) {
            Some(other) => *other = entry.clone(),
            None => kept.push(entry.clone()),
        }
    }
    kept
}

#[cfg(test)]
mod tests;
