//! Conversion from and to JSON.

use serde_json::json;

use super::Value;
use crate::gotemplate::ConvertError;

#[test]
fn named_objects_are_maps_of_strings() {
    let data = json!({"metadata": {"labels": {"a": "b"}, "other": {"a": "b"}}, "values": {"n": 1}});
    let value = Value::from_json(&data, &["metadata.labels", "values"]);
    let Value::Map(root) = &value else { panic!("a map") };
    let Some(Value::Map(metadata)) = root.get(b"metadata") else { panic!("a map") };
    let type_of = |key: &[u8]| metadata.get(key).map(|value| value.type_name());
    assert_eq!(type_of(b"labels"), Some("map[string]string"));
    assert_eq!(type_of(b"other"), Some("map[string]interface {}"));
    // Not all values are strings.
    assert_eq!(root.get(b"values").map(|value| value.type_name()), Some("map[string]interface {}"));
}

#[test]
fn numbers_of_json_are_floats_and_others_are_refused() {
    let Value::List(list) = Value::from_json(&json!([1, 2.5]), &[]) else { panic!("a list") };
    assert!(list.items().iter().all(|item| item.type_name() == "float64"));
    assert_eq!(Value::Float(f64::INFINITY).to_json(), Err(ConvertError::Number("+Inf".to_owned())));
    assert_eq!(Value::from(vec![b'a', 0xff]).to_json(), Ok(json!("a\u{fffd}")));
}
