//! JSON merge patches (RFC 7396) between values.

use serde_json::{Map, Value};

/// Returns the patch from one value to another, none if they are equal. Lists are replaced as a whole.
pub(super) fn difference(from: &Value, to: &Value) -> Option<Value> {
    let (Value::Object(from), Value::Object(to)) = (from, to) else {
        return (from != to).then(|| to.clone());
    };
    let removed = from.keys().filter(|key| !to.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let changed = to.iter().filter_map(|(key, to)| match from.get(key) {
        Some(from) => difference(from, to).map(|patch| (key.clone(), patch)),
        None => Some((key.clone(), to.clone())),
    });
    let patch: Map<String, Value> = removed.chain(changed).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// Applies a patch.
pub(super) fn apply(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    if let Value::Object(fields) = value {
        for (key, patch) in patch {
            match patch {
                Value::Null => drop(fields.remove(key)),
                patch => apply(fields.entry(key.clone()).or_insert(Value::Null), patch),
            }
        }
    }
}
