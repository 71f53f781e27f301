//! Merges one object below another.

use super::Mode;
use crate::{HelmVersion, Map, Value};

/// Handling of nulls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nulls {
    pub(super) version: HelmVersion,
    pub(super) mode: Mode,
}

/// Adds missing keys of `below` to `above`, recursively in objects of both.
pub(super) fn put_below(above: &mut Map, mut below: Map, nulls: Nulls) {
    if nulls.mode == Mode::Coalesce {
        // A null deletes only keys with a default.
        above.retain(|key, value| {
            let is_deleted =
                *value == Value::Null && below.get(key).is_some_and(|default| *default != Value::Null);
            if is_deleted {
                below.remove(key);
            }
            !is_deleted
        });
    }
    for (key, default) in below {
        match (above.get_mut(&key), default) {
            (None, default) => {
                let keeps = nulls.version == HelmVersion::V3 || nulls.mode == Mode::Merge;
                let default = if keeps { Some(default) } else { without_nulls(&default) };
                above.extend(default.map(|default| (key, default)));
            }
            (Some(Value::Map(inner)), Value::Map(default)) => put_below(inner, default, nulls),
            (Some(_), _) => {}
        }
    }
}

/// Removes the nulls of objects, not those of lists. `None` for null itself.
pub(super) fn without_nulls(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Map(map) => {
            let kept = map.iter().filter_map(|(key, value)| Some((key.clone(), without_nulls(value)?)));
            Some(Value::Map(kept.collect()))
        }
        other => Some(other.clone()),
    }
}
