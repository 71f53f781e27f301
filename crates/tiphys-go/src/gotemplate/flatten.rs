//! Parameters as one level of strings: the data of fasttemplate and of selectors.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::gotemplate::number::general;

/// Returns all values except objects and lists, as strings by their path with dots: `metadata.labels.env`, `list.0`. Empty objects and
/// lists vanish. If two paths are equal, the deeper one counts.
pub fn flatten(values: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    // The order of Go's maps is random; here, `a: {b: …}` follows `a.b`.
    for is_nested in [false, true] {
        for (key, value) in values {
            if (value.is_object() || value.is_array()) == is_nested {
                add(&mut flat, key.clone(), value);
            }
        }
    }
    flat
}

/// Returns a value as Go's `%v` prints it after decoding JSON: numbers as 64-bit floats, `<nil>`, `[a b]`, `map[k:v]`.
pub fn go_string(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => general(number.as_f64().unwrap_or_default()),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_string).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            let entries: Vec<String> =
                sorted.iter().map(|(key, value)| format!("{key}:{}", go_string(value))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

fn add(flat: &mut BTreeMap<String, String>, path: String, value: &Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                add(flat, format!("{path}.{key}"), value);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                add(flat, format!("{path}.{index}"), value);
            }
        }
        value => {
            flat.insert(path, go_string(value));
        }
    }
}

#[cfg(test)]
mod tests;
