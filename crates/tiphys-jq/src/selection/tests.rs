use serde_json::{Value, json};

use super::Selection;

#[test]
fn overlapping_paths_remove_what_they_selected() {
    let value = json!({"l": [0, 1, 2, [30, 31]], "o": {"a": 1}});
    let cases = [
        (json!([["l", 0], ["l", 1], ["l", -1, 0]]), json!({"l": [2, [31]], "o": {"a": 1}})),
        (json!([["l", 1], ["l"], ["l", 2]]), json!({"o": {"a": 1}})),
        (json!([["l", {"start": 1, "end": -1}]]), json!({"l": [0, [30, 31]], "o": {"a": 1}})),
        (
            json!([["l", {"start": 2, "end": null}, 1, {"start": null, "end": 1}]]),
            json!({"l": [0, 1, 2, [31]], "o": {"a": 1}}),
        ),
        (json!([["l", {"start": -99, "end": 99}], ["o", "x"]]), json!({"l": [], "o": {"a": 1}})),
        (json!([["l", 9], ["l", -9]]), value.clone()),
        (json!([["o", "a"], []]), Value::Null),
    ];
    for (paths, expected) in cases {
        let mut selection = Selection::default();
        for path in paths.as_array().expect("a list") {
            selection.add(&value, path.as_array().expect("a path")).expect("a path that fits");
        }
        let mut left = value.clone();
        selection.remove_from(&mut left);
        assert_eq!(left, expected, "{paths}");
    }
}

#[test]
fn step_of_another_type_is_rejected() {
    let value = json!({"l": [0], "s": "x"});
    for path in [json!([0]), json!(["l", "x"]), json!(["s", {"start": 0, "end": 1}])] {
        let path = path.as_array().expect("a path");
        assert_eq!(Selection::default().add(&value, path), None, "{path:?}");
    }
}
