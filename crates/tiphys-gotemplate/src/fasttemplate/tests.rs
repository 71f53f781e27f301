//! Tags and flattened parameters.

use std::collections::BTreeMap;

use serde_json::json;

use super::{flatten, replace};

#[test]
fn tags_are_replaced_once() {
    let values = BTreeMap::from([("a".to_owned(), "{{b}}".to_owned()), ("b".to_owned(), "B".to_owned())]);
    let cases = [
        ("{{a}} {{ b }}", Ok("{{b}} B")),
        ("{{x}} {{}} {{ }}", Ok("{{x}} {{}} {{ }}")),
        ("{{a\n}}", Ok("{{a\n}}")),
        ("no tag {{", Ok("no tag {{")),
        (
            "{{a}} {{",
            Err(
                "invalid template: Cannot find end tag=\"}}\" in the template=\"{{a}} {{\" starting from \"\"",
            ),
        ),
    ];
    for (template, expected) in cases {
        let replaced = replace(template, &values).map_err(|error| error.to_string());
        assert_eq!(replaced, expected.map(str::to_owned).map_err(str::to_owned), "{template}");
    }
}

#[test]
fn parameters_are_flattened_as_go_prints_them() {
    let flat = flatten(&json!({"a": {"b": [1_000_000, null, {}]}, "e": [], "t": true}));
    let expected = [("a.b.0", "1e+06"), ("a.b.1", "<nil>"), ("t", "true")];
    assert_eq!(flat, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
}
