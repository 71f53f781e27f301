use serde_json::json;

use super::value_text;

#[test]
fn values_are_one_line_without_control_characters() {
    let cases = [
        (json!({"string": "a <b> \"c\""}), "a <b> \"c\""),
        (json!({"string": "a\nb\tc \u{1b}[31m"}), r#""a\nb\tc \u001b[31m""#),
        (json!({"string": ""}), ""),
        (json!({"array": ["a", "b\n", "<"]}), r#"["a","b\n","<"]"#),
        (json!({"map": {"k": "v"}}), r#"{"k":"v"}"#),
        (json!({}), ""),
    ];
    for (value, expected) in cases {
        assert_eq!(value_text(&value), expected, "{value}");
    }
}
