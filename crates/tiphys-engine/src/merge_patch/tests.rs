use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use serde_json::Value;
use tiphys_yaml::{Node, read_json};

use super::merge_patch;

fn node(text: &str) -> Node {
    read_json(text.as_bytes()).expect("JSON")
}

#[test]
fn examples_of_rfc_7396() {
    let cases = [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
        (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
        (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
        (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
        (r#"{"a":"foo"}"#, "null", "null"),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
        ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
        ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        (r#"{"a":1}"#, r#"{"a":2,"a":3}"#, r#"{"a":3}"#),
    ];
    for (target, patch, expected) in cases {
        let found = merge_patch(Some(&node(target)), &node(patch)).to_value();
        assert_eq!(found, node(expected).to_value(), "{target} {patch}");
    }
}

#[test]
fn merged_values_keep_their_position() {
    let merged = merge_patch(Some(&node("{\"a\": 1}")), &node("{\n \"b\": 2}"));
    assert_eq!(merged.get("b").expect("the merged key").position.line, 2);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn merge_patch_is_idempotent(target in values(), patch in values()) {
        let patch = node(&patch.to_string());
        let once = merge_patch(Some(&node(&target.to_string())), &patch);
        prop_assert_eq!(merge_patch(Some(&once), &patch).to_value(), once.to_value());
    }
}
