use serde_json::{Map, Value, json};

use super::findings;

#[test]
fn findings_name_the_first_parameter_set() {
    let set = |value: Value| value.as_object().cloned().unwrap_or_else(Map::new);
    let exponent = |number: u8, path: &str| {
        format!(
            "parameter set {number}: the number {path:?} prints with an exponent, such as 1e+06; answer a string"
        )
    };
    for (sets, expected) in [
        (
            vec![],
            vec![
                "the answer has no parameter sets: the controller would delete every Application of the set"
                    .to_owned(),
            ],
        ),
        (vec![set(json!({"a": 999_999, "b": "1e+06", "c": 0, "d": [0.0001]}))], vec![]),
        (
            vec![
                set(json!({"a": 1})),
                set(json!({"a": -1_000_000, "b": {"c": [1, 0.000_01]}})),
                set(json!({"a": 2_000_000})),
            ],
            vec![exponent(2, "a"), exponent(2, "b.c.1")],
        ),
        (
            vec![set(json!({"generator": {}})), set(json!({"values": {}, "generator": 1}))],
            vec![
                "parameter set 1: key \"generator\" is replaced by the input of the generator".to_owned(),
                "parameter set 2: key \"values\" is replaced if the generator has `values`".to_owned(),
            ],
        ),
    ] {
        assert_eq!(findings(&sets), expected, "{sets:?}");
    }
}
