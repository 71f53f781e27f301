//! Any path is evaluated on any object or refused. Results are values of the object, and errors contain nothing of it.

use serde_json::Value;
use tiphys_engine::FieldPath;
use tiphys_yaml::read_json;

/// Marks strings and keys of the object.
const CANARY: &str = "canary";
/// Replaces numbers of the object.
const CANARY_NUMBER: i64 = 7_919_081_234_567;

/// The first line is a path, the rest an object in JSON.
pub(crate) fn body(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some((path, object)) = text.split_once('\n') else { return };
    let Ok(parsed) = FieldPath::parse(path) else { return };
    let Ok(object) = read_json(object.as_bytes()) else { return };
    let object = object.to_value();
    if let Ok(found) = parsed.find(&object) {
        let mut values = Vec::new();
        collect(&object, &mut values);
        assert!(found.iter().all(|value| values.iter().any(|other| std::ptr::eq(*value, *other))), "{path}");
        let is_one = matches!(found[..], [value] if !value.is_null());
        assert_eq!(parsed.one(&object).is_ok(), is_one, "{path}");
    }
    if path.contains(CANARY) || path.contains(&CANARY_NUMBER.to_string()) {
        return;
    }
    for error in [parsed.find(&marked(&object, path)).err(), parsed.one(&marked(&object, path)).err()] {
        let message = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(!message.contains(CANARY) && !message.contains(&CANARY_NUMBER.to_string()), "{message}");
    }
}

/// Collects the value and its descendants.
fn collect<'a>(value: &'a Value, values: &mut Vec<&'a Value>) {
    values.push(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, values)),
        Value::Object(map) => map.values().for_each(|item| collect(item, values)),
        _ => {}
    }
}

/// Returns the object with every scalar replaced, and every key that the path does not name.
fn marked(value: &Value, path: &str) -> Value {
    match value {
        Value::String(_) => CANARY.into(),
        Value::Number(_) => CANARY_NUMBER.into(),
        Value::Array(items) => items.iter().map(|item| marked(item, path)).collect(),
        Value::Object(map) => {
            let key = |key: &str| if path.contains(key) { key.to_owned() } else { format!("{CANARY}{key}") };
            map.iter().map(|(name, item)| (key(name), marked(item, path))).collect()
        }
        Value::Null | Value::Bool(_) => value.clone(),
    }
}
