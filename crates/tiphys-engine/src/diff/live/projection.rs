//! The part of a live object that counts.

use serde_json::{Map, Value};

/// The live object as far as it counts: what was rendered, with the live values where they differ, and what was applied before and is
/// not rendered any more.
pub(super) fn of(
    rendered: &Map<String, Value>,
    live: &Map<String, Value>,
    applied: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let mut shown = Map::new();
    for (key, rendered) in rendered {
        let applied = applied.and_then(|applied| applied.get(key));
        match live.get(key) {
            Some(live) => {
                shown.insert(key.clone(), value(rendered, live, applied));
            }
            // A field that is empty and one that is absent are the same.
            None if is_empty(rendered) => {
                shown.insert(key.clone(), rendered.clone());
            }
            None => {}
        }
    }
    for key in applied.into_iter().flat_map(Map::keys).filter(|key| !rendered.contains_key(*key)) {
        if let Some(live) = live.get(key) {
            shown.insert(key.clone(), live.clone());
        }
    }
    shown
}

fn value(rendered: &Value, live: &Value, applied: Option<&Value>) -> Value {
    match (rendered, live) {
        (Value::Object(rendered), Value::Object(live)) => {
            Value::Object(of(rendered, live, applied.and_then(Value::as_object)))
        }
        (Value::Array(rendered), Value::Array(live)) if rendered.len() == live.len() => {
            let applied = applied.and_then(Value::as_array).filter(|applied| applied.len() == live.len());
            let items = rendered.iter().zip(live).enumerate().map(|(index, (rendered, live))| {
                value(rendered, live, applied.and_then(|applied| applied.get(index)))
            });
            Value::Array(items.collect())
        }
        // Nothing was rendered, and nothing that counts is live.
        (Value::Null, _) if applied.is_none_or(Value::is_null) => Value::Null,
        _ => live.clone(),
    }
}

/// Whether a value says no more than an absent one.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        _ => false,
    }
}
