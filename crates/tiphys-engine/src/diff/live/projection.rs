//! The part of a live object that counts.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::kinds::{KindRules, ListKind};
use super::quantity;

/// The live object as far as it counts: what was rendered, with the live values where they differ, and what was applied before and is
/// not rendered any more.
pub(super) fn of(
    rules: &KindRules<'_>,
    rendered: &Map<String, Value>,
    live: &Map<String, Value>,
    applied: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    Projection { rules }.fields(&mut Vec::new(), rendered, live, applied)
}

struct Projection<'a> {
    rules: &'a KindRules<'a>,
}

impl Projection<'_> {
    fn fields<'v>(
        &self,
        path: &mut Vec<&'v str>,
        rendered: &'v Map<String, Value>,
        live: &Map<String, Value>,
        applied: Option<&Map<String, Value>>,
    ) -> Map<String, Value> {
        let mut shown = Map::new();
        for (key, rendered) in rendered {
            path.push(key);
            let applied = applied.and_then(|applied| applied.get(key));
            let value = match live.get(key) {
                Some(live) => Some(self.value(path, rendered, live, applied)),
                // A field that says nothing and one that is absent are the same.
                None if is_empty(rendered) || self.rules.is_left_out(path, rendered) => {
                    Some(rendered.clone())
                }
                None => None,
            };
            shown.extend(value.map(|value| (key.clone(), value)));
            path.pop();
        }
        for key in applied.into_iter().flat_map(Map::keys).filter(|key| !rendered.contains_key(*key)) {
            if let Some(live) = live.get(key) {
                shown.insert(key.clone(), live.clone());
            }
        }
        shown
    }

    fn value<'v>(
        &self,
        path: &mut Vec<&'v str>,
        rendered: &'v Value,
        live: &Value,
        applied: Option<&Value>,
    ) -> Value {
        match (rendered, live) {
            (Value::Object(rendered), Value::Object(live)) => {
                Value::Object(self.fields(path, rendered, live, applied.and_then(Value::as_object)))
            }
            (Value::Array(rendered), Value::Array(live)) => {
                Value::Array(self.items(path, rendered, live, applied.and_then(Value::as_array)))
            }
            // Nothing was rendered, and nothing that counts is live.
            (Value::Null, _) if applied.is_none_or(Value::is_null) => Value::Null,
            _ if self.are_one(path, rendered, live) => rendered.clone(),
            _ => live.clone(),
        }
    }

    /// Whether two values that are written differently are the same.
    fn are_one(&self, path: &[&str], rendered: &Value, live: &Value) -> bool {
        if self.rules.is_for_the_server(path, rendered) || is_empty(rendered) && is_empty(live) {
            return true;
        }
        if let (Value::Number(rendered), Value::Number(live)) = (rendered, live) {
            return numbers_are_equal(rendered, live);
        }
        self.rules.is_quantity(path)
            && match (plain(rendered), plain(live)) {
                (Some(rendered), Some(live)) => quantity::equal(&rendered, &live),
                _ => false,
            }
    }

    fn items<'v>(
        &self,
        path: &mut Vec<&'v str>,
        rendered: &'v [Value],
        live: &[Value],
        applied: Option<&Vec<Value>>,
    ) -> Vec<Value> {
        let kind = self.rules.list(path);
        if let Some(shown) = self.keyed(kind, path, rendered, live, applied) {
            return shown;
        }
        if rendered.len() != live.len() {
            return live.to_vec();
        }
        let applied = applied.filter(|applied| applied.len() == live.len());
        let items = rendered.iter().zip(live).enumerate();
        items
            .map(|(index, (rendered, live))| {
                self.value(path, rendered, live, applied.and_then(|applied| applied.get(index)))
            })
            .collect()
    }

    /// The live items of a keyed list that count, in their own order: those that were rendered, and those that were applied before.
    /// `None` if an item has no key, or one that another has.
    fn keyed<'v>(
        &self,
        kind: ListKind,
        path: &mut Vec<&'v str>,
        rendered: &'v [Value],
        live: &[Value],
        applied: Option<&Vec<Value>>,
    ) -> Option<Vec<Value>> {
        let rendered = by_key(kind, rendered)?;
        let applied = applied.and_then(|applied| by_key(kind, applied)).unwrap_or_default();
        // Of a live list whose keys do not hold, nothing can be left out.
        by_key(kind, live)?;
        let mut shown = Vec::new();
        for item in live {
            let key = key_of(kind, item)?;
            if let Some(rendered) = rendered.get(&key) {
                shown.push(self.value(path, rendered, item, applied.get(&key).copied()));
            } else if applied.contains_key(&key) {
                shown.push(item.clone());
            }
        }
        Some(shown)
    }
}

/// Items by their keys.
fn by_key(kind: ListKind, items: &[Value]) -> Option<HashMap<String, &Value>> {
    let mut found = HashMap::with_capacity(items.len());
    for item in items {
        if found.insert(key_of(kind, item)?, item).is_some() {
            return None;
        }
    }
    Some(found)
}

fn key_of(kind: ListKind, item: &Value) -> Option<String> {
    let fields = match kind {
        ListKind::Places => return None,
        ListKind::Set => return item.as_str().map(str::to_owned),
        ListKind::Keyed(fields) => fields,
    };
    let values = fields.iter().map(|(field, default)| match item.get(field) {
        None | Some(Value::Null) => default.map(|default| format!("{default:?}")),
        Some(value) if value.is_string() || value.is_number() => Some(value.to_string()),
        Some(_) => None,
    });
    values.collect::<Option<Vec<String>>>().map(|values| values.join(" "))
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

/// A text or a number as text.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The largest whole number up to which floating-point numbers are exact.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Whether two numbers are one: `1` and `1.0` are.
fn numbers_are_equal(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    if one == other {
        return true;
    }
    if one.is_f64() == other.is_f64() {
        return false;
    }
    match (one.as_f64(), other.as_f64()) {
        #[expect(clippy::float_cmp, reason = "both are exact below the bound")]
        (Some(one), Some(other)) => one == other && one.abs() < EXACT_MAX,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
