use serde_json::json;

use super::{flatten, go_string};

#[test]
fn values_are_printed_as_in_go() {
    let cases = [
        (json!(0), "0"),
        (json!(-0.0), "-0"),
        (json!(999_999), "999999"),
        (json!(1_000_000), "1e+06"),
        (json!(-1_000_000), "-1e+06"),
        (json!(1_234_567), "1.234567e+06"),
        (json!(123_456.75), "123456.75"),
        (json!(2_147_483_647), "2.147483647e+09"),
        (json!(9_007_199_254_740_993_u64), "9.007199254740992e+15"),
        (json!(1e21), "1e+21"),
        (json!(0.0001), "0.0001"),
        (json!(0.00001), "1e-05"),
        (json!(-0.000_123_45), "-0.00012345"),
        (json!(5e-324), "5e-324"),
        (json!(1e300), "1e+300"),
        (json!(true), "true"),
        (json!(null), "<nil>"),
        (json!("a b"), "a b"),
        (json!(["a", 1, [2, null], {"k": "v"}]), "[a 1 [2 <nil>] map[k:v]]"),
        (json!({"z": {}, "a": []}), "map[a:[] z:map[]]"),
    ];
    for (value, expected) in cases {
        assert_eq!(go_string(&value), expected, "{value}");
    }
}

#[test]
fn parameters_are_flattened_to_strings() {
    let cases = [
        (json!({}), vec![]),
        (
            json!({"name": "n", "o": {"x": {"y": "z"}, "e": {}}, "l": ["a", 1, [2, null], {"k": true}], "el": [], "dot.key": "d"}),
            vec![
                ("dot.key", "d"),
                ("l.0", "a"),
                ("l.1", "1"),
                ("l.2.0", "2"),
                ("l.2.1", "<nil>"),
                ("l.3.k", "true"),
                ("name", "n"),
                ("o.x.y", "z"),
            ],
        ),
        (json!({"a": {"b": "deep"}, "a.b": "flat"}), vec![("a.b", "deep")]),
    ];
    for (values, expected) in cases {
        let flat = flatten(values.as_object().unwrap());
        let pairs: Vec<(&str, &str)> =
            flat.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(pairs, expected, "{values}");
    }
}

#[test]
fn parameters_are_flattened_as_go_prints_them() {
    let flat = flatten(json!({"a": {"b": [1_000_000, null, {}]}, "e": [], "t": true}).as_object().unwrap());
    let expected = [("a.b.0", "1e+06"), ("a.b.1", "<nil>"), ("t", "true")];
    assert_eq!(flat, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
}
