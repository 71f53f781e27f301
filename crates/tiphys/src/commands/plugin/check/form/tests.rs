use serde_json::json;
use tiphys_model::params::{Announcement, Parameter};

use super::Form;

fn announced(json: &str) -> Vec<Announcement> {
    tiphys_model::params::decode_dynamic_output(json.as_bytes()).expect("valid announcements").list
}

fn set(json: &str) -> Vec<Parameter> {
    serde_json::from_str(json).expect("parameters")
}

fn shown(announcements: &str, parameters: &str) -> String {
    Form::new(&announced(announcements), &set(parameters)).lines().join("\n")
}

#[test]
fn field_states_the_kind_of_its_value() {
    let cases = [
        (r#"{"name": "a"}"#, "a (a, string)"),
        (r#"{"name": "a", "title": "The A"}"#, "The A (a, string)"),
        (r#"{"name": "a", "itemType": "string", "required": true}"#, "a (a, string, required)"),
        (r#"{"name": "a", "itemType": "number"}"#, "a (a, number)"),
        (r#"{"name": "a", "itemType": "boolean"}"#, "a (a, switch)"),
        (r#"{"name": "a", "itemType": "int"}"#, "a (a, string)"),
        (r#"{"name": "a", "choices": ["x", "y z"]}"#, r#"a (a, choice of "x" | "y z")"#),
        (r#"{"name": "a", "collectionType": "array"}"#, "a (a, list of strings)"),
        (r#"{"name": "a", "collectionType": "array", "itemType": "number"}"#, "a (a, list of numbers)"),
        (r#"{"name": "a", "collectionType": "map", "itemType": "boolean"}"#, "a (a, map of switches)"),
        (r#"{"name": "a", "collectionType": "map", "choices": ["x"]}"#, r#"a (a, map of choices of "x")"#),
    ];
    for (announcement, line) in cases {
        let parameters = r#"[{"name": "a", "string": "1"}]"#;
        let text = shown(&format!("[{announcement}]"), parameters);
        assert_eq!(text.lines().next(), Some(line), "{announcement}");
    }
}

#[test]
fn field_has_description_default_value_and_problems() {
    let announcements = r#"[
        {"name": "n", "itemType": "number", "string": "1", "tooltip": "One line.\nAnother."},
        {"name": "l", "collectionType": "array", "array": [], "string": "ignored"},
        {"name": "r", "required": true},
        {"name": "m", "collectionType": "map"}
    ]"#;
    let parameters = r#"[
        {"name": "n", "string": "x"}, {"name": "n", "string": "two"}, {"name": "m", "string": ""}, {"name": "rr", "array": ["a\nb"]},
        {"name": "nothing"}
    ]"#;
    let expected = r#"n (n, number)
  One line.
  Another.
  default: "1"
  value:   "two"
  problem: the value has to be a decimal number, such as `3` or `-1.5e3`

l (l, list of strings)
  default: []

r (r, string, required)
  problem: a value is required, and there is no default

m (m, map of strings)
  value:   ""
  problem: the plugin reads `map`, but only `string` is set

rr (rr, list of strings, not announced)
  value:   ["a\nb"]
  problem: the plugin does not announce it; did you mean `r`?

nothing (nothing, string, not announced)
  value:   none, though the parameter is set
  problem: the plugin does not announce it"#;
    assert_eq!(shown(announcements, parameters), expected);
}

#[test]
fn without_announcements_all_names_are_permitted() {
    assert_eq!(shown("[]", "[]"), "no parameters");
    assert_eq!(
        shown("null", r#"[{"name": "a", "string": "b"}]"#),
        "a (a, string, not announced)\n  value:   \"b\""
    );
}

#[test]
fn json_has_all_properties_of_a_field() {
    let announcements =
        announced(r#"[{"name": "s", "title": "S", "tooltip": "T.", "choices": ["x"], "string": "x"}]"#);
    let form = Form::new(&announcements, &set(r#"[{"name": "s", "string": "y"}]"#));
    let expected = json!([{
        "name": "s", "label": "S", "title": "S", "tooltip": "T.", "input": "choice", "collection": "string",
        "choices": ["x"], "required": false, "announced": true, "default": {"string": "x"}, "value": {"string": "y"},
        "problems": ["the value has to be one of `x`"],
    }]);
    assert_eq!(form.to_json(), expected);
}
