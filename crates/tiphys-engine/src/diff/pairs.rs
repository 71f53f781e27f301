//! Which object of one side is which of the other.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::{Manifest, ObjectKey};

/// Pairs of old and new: the new side's objects in their order, then the old side's that no new one is paired with.
pub(super) fn of<'a>(
    before: &'a [Manifest],
    after: &'a [Manifest],
) -> impl Iterator<Item = (Option<&'a Manifest>, Option<&'a Manifest>)> {
    let mut places: HashMap<ObjectKey, VecDeque<usize>> = HashMap::new();
    for (index, manifest) in before.iter().enumerate() {
        places.entry(shown_key(manifest)).or_default().push_back(index);
    }
    let mut paired = vec![false; before.len()];
    let mut pairs = Vec::with_capacity(before.len().max(after.len()));
    for manifest in after {
        let index = places.get_mut(&shown_key(manifest)).and_then(VecDeque::pop_front);
        if let Some(index) = index {
            paired[index] = true;
        }
        pairs.push((index.map(|index| &before[index]), Some(manifest)));
    }
    let rest = before.iter().zip(paired).filter(|(_, paired)| !paired);
    pairs.extend(rest.map(|(manifest, _)| (Some(manifest), None)));
    pairs.into_iter()
}

/// The object's key; one without a name has its `generateName` with a `*`, which no name can have.
pub(super) fn shown_key(manifest: &Manifest) -> ObjectKey {
    let mut key = manifest.key();
    if key.name.is_empty() {
        let metadata = manifest.object().get("metadata");
        let prefix = metadata.and_then(|metadata| metadata.get("generateName")).and_then(Value::as_str);
        if let Some(prefix) = prefix {
            key.name = format!("{prefix}*");
        }
    }
    key
}
