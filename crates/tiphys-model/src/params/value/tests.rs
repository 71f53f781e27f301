use std::collections::BTreeMap;

use super::{Parameter, Parameters, require_names};

fn decode(text: &str) -> Parameters {
    let node = tiphys_yaml::read_json(text.as_bytes()).expect("the test's JSON");
    Parameters::decode(&node, "parameters").expect("it decodes")
}

fn one(text: &str) -> Parameter {
    decode(&format!("[{text}]")).list.expect("a list").remove(0)
}

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn missing_value_differs_from_empty_value() {
    assert_eq!(one(r#"{"name": "a"}"#), Parameter { name: "a".to_owned(), ..Parameter::default() });
    let empty = one(r#"{"name": "a", "string": "", "array": [], "map": {}}"#);
    assert_eq!(
        (empty.string, empty.array, empty.map),
        (Some(String::new()), Some(list(&[])), Some(map(&[])))
    );
}

#[test]
fn null_list_and_map_are_empty_but_null_string_is_absent() {
    let read = one(r#"{"name": "a", "string": null, "array": null, "map": null}"#);
    assert_eq!((read.string, read.array, read.map), (None, Some(list(&[])), Some(map(&[]))));
}

#[test]
fn null_parameter_list_differs_from_empty_list() {
    assert_eq!(decode("null").list, None);
    assert_eq!(decode("[]").list, Some(Vec::new()));
}

#[test]
fn several_value_fields_are_all_kept() {
    let read = one(r#"{"name": "a", "string": "s", "array": ["x"], "map": {"k": "v"}}"#);
    assert_eq!(
        (read.string, read.array, read.map),
        (Some("s".to_owned()), Some(list(&["x"])), Some(map(&[("k", "v")])))
    );
}

#[test]
fn last_of_duplicate_keys_wins_but_maps_are_merged() {
    let cases = [
        (r#"{"name":"a","name":"b"}"#, "b", None, None, None),
        (r#"{"name":"a","name":null}"#, "a", None, None, None),
        (r#"{"string":"1","string":"2"}"#, "", Some("2"), None, None),
        (r#"{"string":"1","string":null}"#, "", None, None, None),
        (r#"{"array":["x","y"],"array":["z"]}"#, "", None, Some(list(&["z"])), None),
        (r#"{"array":["x"],"ARRAY":null}"#, "", None, Some(list(&[])), None),
        (r#"{"array":["x"],"array":[null,"y"]}"#, "", None, Some(list(&["x", "y"])), None),
        (r#"{"map":{"x":"1"},"Map":{"y":"2"}}"#, "", None, None, Some(map(&[("x", "1"), ("y", "2")]))),
        (r#"{"map":{"x":"1"},"map":null}"#, "", None, None, Some(map(&[]))),
        (r#"{"map":{"x":"1"},"map":{"x":null}}"#, "", None, None, Some(map(&[("x", "")]))),
    ];
    for (text, name, string, array, map) in cases {
        let expected = Parameter { name: name.to_owned(), string: string.map(str::to_owned), array, map };
        assert_eq!(one(text), expected, "{text}");
        assert_eq!(serde_json::from_str::<Parameter>(text).expect(text), expected, "serde: {text}");
    }
}

#[test]
fn keys_match_in_any_letter_case() {
    let read = one(r#"{"NAME": "a", "ſtring": "s", "Array": ["x"], "mAP": {"K": "v"}}"#);
    assert_eq!(read.name, "a");
    assert_eq!(
        (read.string, read.array, read.map),
        (Some("s".to_owned()), Some(list(&["x"])), Some(map(&[("K", "v")])))
    );
}

#[test]
fn wrong_type_is_an_error_with_path_and_position() {
    let cases = [
        (
            r#"[{"name":"a","string":5}]"#,
            "line 1, column 23: parameters[0].string: expected a string, found a number; put it in quotes",
        ),
        (
            r#"[{"name":"a"},{"name":true}]"#,
            "line 1, column 23: parameters[1].name: expected a string, found a boolean; put it in quotes",
        ),
        (
            r#"[{"array":["x",{}]}]"#,
            "line 1, column 16: parameters[0].array[1]: expected a string, found an object",
        ),
        (r#"[{"map":{"k":[]}}]"#, "line 1, column 14: parameters[0].map.k: expected a string, found a list"),
        (r#"["x"]"#, "line 1, column 2: parameters[0]: expected an object, found a string"),
        (r#"{"name":"a"}"#, "line 1, column 1: parameters: expected a list of parameters, found an object"),
        (
            r#"[{"string":5,"string":"x"}]"#,
            "line 1, column 12: parameters[0].string: expected a string, found a number; put it in quotes",
        ),
    ];
    for (text, expected) in cases {
        let node = tiphys_yaml::read_json(text.as_bytes()).expect("the test's JSON");
        let error = Parameters::decode(&node, "parameters").expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn suspicious_parameters_are_accepted_with_a_warning() {
    let cases: &[(&str, &[(usize, &str)])] = &[
        (r#"[{"name": "a", "string": "x"}]"#, &[]),
        (r#"[{"name": "a"}]"#, &[(2, "parameter `a` has no value; set `string`, `array` or `map`")]),
        ("[null]", &[(2, "parameter 1 (without a name) has no value; set `string`, `array` or `map`")]),
        (
            r#"[{"name":"a","string":""},{"name":"a","string":""}]"#,
            &[(
                27,
                "parameter `a` is set twice, first on line 1; the plugin gets both, and of equal variables the later one",
            )],
        ),
        (
            r#"[{"name":"a","string":"1","string":"2"}]"#,
            &[(
                27,
                "parameter `a`: the key `string` is given twice; the last one counts, and maps grow together",
            )],
        ),
        (
            r#"[{"name":"a","map":{"k":"1","k":"2"}}]"#,
            &[(29, "parameter `a`: the map key `k` is given twice; the last one counts")],
        ),
        (
            r#"[{"name":"a","strin":"1","array":[]}]"#,
            &[(14, "parameter `a`: the key `strin` is unknown and ignored; did you mean `string`?")],
        ),
        (
            r#"[{"name":"a","value":"1","array":[]}]"#,
            &[(
                14,
                "parameter `a`: the key `value` is unknown and ignored; a parameter has `name` and `string`, `array` or `map`",
            )],
        ),
    ];
    for (text, expected) in cases {
        let found: Vec<(usize, String)> = decode(text)
            .warnings
            .into_iter()
            .map(|warning| (warning.position.expect("a position").column, warning.message))
            .collect();
        let expected: Vec<(usize, String)> =
            expected.iter().map(|(column, text)| (*column, (*text).to_owned())).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn parameter_without_name_is_rejected() {
    for text in
        [r#"[{"name":"a"},{"string":"x"}]"#, r#"[{"name":"a"},{"name":""}]"#, r#"[{"name":"a"},null]"#]
    {
        let read = decode(text);
        let error = read.require_names().expect_err(text);
        assert_eq!(
            error.to_string(),
            "parameter 2 of 2 (line 1, column 15) has no name; every parameter needs a non-empty `name`"
        );
        let error = require_names(read.list.as_deref().expect("a list")).expect_err(text);
        assert_eq!(
            error.to_string(),
            "parameter 2 of 2 has no name; every parameter needs a non-empty `name`"
        );
    }
    assert_eq!(decode(r#"[{"name":" "}]"#).require_names(), Ok(()));
    assert_eq!(decode("null").require_names(), Ok(()));
}

#[test]
fn serde_writes_sorted_keys_and_only_what_is_set() {
    let parameter = one(r#"{"string":"","name":"a","map":{},"array":["x"]}"#);
    let written = serde_json::to_string(&parameter).expect("it can be written");
    assert_eq!(written, r#"{"array":["x"],"map":{},"name":"a","string":""}"#);
    assert_eq!(serde_json::to_string(&Parameter::default()).expect("it can be written"), r#"{"name":""}"#);
}

#[test]
fn serde_ignores_unknown_keys_and_rejects_wrong_types() {
    let read: Parameter = serde_json::from_str(r#"{"name":"a","x":{"y":[1]}}"#).expect("it is read");
    assert_eq!(read, Parameter { name: "a".to_owned(), ..Parameter::default() });
    for text in [r#"{"string":5}"#, r#"{"array":{}}"#, r#"{"map":[]}"#, r#""x""#, "[]"] {
        assert!(serde_json::from_str::<Parameter>(text).is_err(), "{text}");
    }
}
