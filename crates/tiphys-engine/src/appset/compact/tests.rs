use serde_json::json;

use super::CompactValue;

#[test]
fn compact_values_are_equal_to_their_source() {
    let value = json!({
        "b": {"list": [1, -2, 1.5, 1e300, null, true, "text", [], {}], "empty": {}}, "a": "", "é": 18_446_744_073_709_551_615_u64,
    });
    let compact = CompactValue::from(value.clone());
    assert_eq!(compact.value(), value);
    assert_eq!(compact.value().to_string(), value.to_string());
    assert_ne!(compact, CompactValue::from(json!({"a": ""})));
}
