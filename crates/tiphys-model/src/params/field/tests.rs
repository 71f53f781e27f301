use serde_json::{Value, json};

use super::{Field, fields};
use crate::params::{Announcement, Parameter, ParameterValue, decode_dynamic_output};

fn announced(json: &str) -> Vec<Announcement> {
    decode_dynamic_output(json.as_bytes()).expect("the announcements are valid").list
}

fn set(json: &str) -> Vec<Parameter> {
    serde_json::from_str(json).expect("parameters")
}

/// A field as JSON.
fn field_json(field: &Field) -> Value {
    let problems: Vec<String> = field.problems.iter().map(ToString::to_string).collect();
    json!([
        field.name,
        field.label(),
        field.kind_words(),
        field.input.name(),
        field.shape.field(),
        field.required,
        field.announced,
        problems
    ])
}

#[test]
fn announced_fields_precede_other_set_parameters() {
    let announcements = announced(
        r#"[{"name": "n", "title": "The N", "itemType": "number", "required": true},
            {"name": "l", "collectionType": "array", "itemType": "boolean"},
            {"name": "m", "collectionType": "map", "choices": ["x"]}]"#,
    );
    let parameters = set(
        r#"[{"name": "ll", "array": ["a"]}, {"name": "m", "string": "x"}, {"name": "o", "map": {}}, {"name": "l", "array": ["true", "x"]}]"#,
    );
    let expected = json!([
        [
            "n",
            "The N",
            "number",
            "number",
            "string",
            true,
            true,
            ["a value is required, and there is no default"]
        ],
        [
            "l",
            "l",
            "list of switches",
            "switch",
            "array",
            false,
            true,
            ["item 2 has to be `true` or `false`"]
        ],
        [
            "m",
            "m",
            "map of choices",
            "choice",
            "map",
            false,
            true,
            ["the plugin reads `map`, but only `string` is set"]
        ],
        [
            "ll",
            "ll",
            "list of strings",
            "text",
            "array",
            false,
            false,
            ["the plugin does not announce it; did you mean `l`?"]
        ],
        [
            "o",
            "o",
            "map of strings",
            "text",
            "map",
            false,
            false,
            ["the plugin does not announce it; did you mean `l`, `m`, `n`?"]
        ],
    ]);
    let list: Vec<Value> = fields(&announcements, &parameters).iter().map(field_json).collect();
    assert_eq!(Value::Array(list), expected);
}

#[test]
fn last_of_duplicate_parameters_counts() {
    let parameters = set(r#"[{"name": "a", "string": "x"}, {"name": "a", "string": "1"}]"#);
    let fields = fields(&announced(r#"[{"name": "a", "itemType": "number"}]"#), &parameters);
    assert_eq!(fields.len(), 1);
    assert_eq!(fields[0].counting_value(), Some(ParameterValue::String("1".to_owned())));
    assert_eq!(fields[0].problems, []);
}

#[test]
fn values_outside_the_announced_field_are_ignored() {
    let announcements =
        announced(r#"[{"name": "a", "collectionType": "array", "string": "s", "array": ["d"]}]"#);
    let of = |parameters: &str| fields(&announcements, &set(parameters)).remove(0);
    let list = |text: &str| Some(ParameterValue::Array(vec![text.to_owned()]));
    let both = of(r#"[{"name": "a", "string": "x", "array": ["v"]}]"#);
    assert_eq!((both.default.clone(), both.counting_value()), (list("d"), list("v")));
    let other = of(r#"[{"name": "a", "string": "x"}]"#);
    assert_eq!(other.counting_value(), None);
    assert_eq!(other.value.and_then(|value| value.string), Some("x".to_owned()));
    assert_eq!(of("[]").value, None);
}

#[test]
fn no_announcements_permit_all_names() {
    let fields = fields(&[], &set(r#"[{"name": "a", "string": "1"}]"#));
    assert_eq!(field_json(&fields[0]), json!(["a", "a", "string", "text", "string", false, false, []]));
}
