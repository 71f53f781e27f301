//! The compared part of a live object.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::kinds::{KindRules, ListKind};
use super::quantity;

/// Returns the compared part of the live object: the rendered fields, with live values where they differ, and fields that were applied
/// before and are not rendered any more.
pub(super) fn project(
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
                // An empty field and an absent one are equal.
                None if is_empty(rendered) || self.rules.is_omitted(path, rendered) => Some(rendered.clone()),
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
            // Nothing is rendered or was applied, so the live value is not compared.
            (Value::Null, _) if applied.is_none_or(Value::is_null) => Value::Null,
            _ if self.are_equivalent(path, rendered, live) => rendered.clone(),
            _ => live.clone(),
        }
    }

    /// Returns whether two values are equal although they are written differently.
    fn are_equivalent(&self, path: &[&str], rendered: &Value, live: &Value) -> bool {
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

    /// Returns the compared items of a keyed list, in live order: those that are rendered, and those that were applied before. `None` if an
    /// item has no key or a duplicate one.
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
        // In a live list with invalid keys, no item can be left out.
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

/// Returns the items by key. `None` if an item has no key or a duplicate one.
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
        ListKind::Indexed => return None,
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

/// Returns whether a value is equivalent to an absent one.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        _ => false,
    }
}

/// Returns a string or number as a string.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The integer up to which all integers are exact as floating-point numbers.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Returns whether two numbers are equal: `1` and `1.0` are.
fn numbers_are_equal(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    if one == other {
        return true;
    }
    if one.is_f64() == other.is_f64() {
        return false;
    }
    match (one.as_f64(), other.as_f64()) {
        #[expect(clippy::float_cmp, reason = "both are exact below the limit")]
        (Some(one), Some(other)) => one == other && one.abs() < EXACT_MAX,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
