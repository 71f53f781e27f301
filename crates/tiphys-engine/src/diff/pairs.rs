//! Matches the objects of both sides.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::{Manifest, ObjectKey};

/// Returns pairs of old and new objects: those of the new side in its order, then unmatched ones of the old side in its order.
pub(super) fn pair<'a>(
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

/// Returns the key of the object. The name of an unnamed object is its `generateName` followed by `*`, which is invalid in names.
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
