use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::project;
use crate::diff::live::kinds::KindRules;

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("not an object: {other}"),
    }
}

/// Returns the compared part of a live object of a kind.
fn shown(kind: (&str, &str), rendered: &Value, live: &Value, applied: &Value) -> Value {
    let applied = applied.as_object();
    Value::Object(project(&KindRules::of(kind), &fields(rendered.clone()), &fields(live.clone()), applied))
}

const CUSTOM: (&str, &str) = ("example.com", "X");
const POD: (&str, &str) = ("", "Pod");

#[test]
fn live_field_is_compared_if_rendered_or_applied() {
    let cases = [
        ("equal", json!({"a": 1}), json!({"a": 1}), json!(null), json!({"a": 1})),
        ("changed", json!({"a": 1}), json!({"a": 2}), json!(null), json!({"a": 2})),
        ("not live", json!({"a": 1}), json!({}), json!(null), json!({})),
        ("set by others", json!({"a": 1}), json!({"a": 1, "b": 2}), json!(null), json!({"a": 1})),
        (
            "set by others, below",
            json!({"a": {"b": 1}}),
            json!({"a": {"b": 1, "c": 2}}),
            json!({"a": {}}),
            json!({"a": {"b": 1}}),
        ),
        ("not rendered any more", json!({}), json!({"a": 1}), json!({"a": 1}), json!({"a": 1})),
        (
            "removed whole, as a sync does",
            json!({}),
            json!({"a": {"b": 1, "c": 2}}),
            json!({"a": {"b": 1}}),
            json!({"a": {"b": 1, "c": 2}}),
        ),
        ("applied, but neither rendered nor live", json!({}), json!({}), json!({"a": 1}), json!({})),
        (
            "changed by others after it was applied",
            json!({}),
            json!({"a": 2}),
            json!({"a": 1}),
            json!({"a": 2}),
        ),
        ("another type", json!({"a": {"b": 1}}), json!({"a": [1]}), json!(null), json!({"a": [1]})),
        ("a number and a string", json!({"a": 1}), json!({"a": "1"}), json!(null), json!({"a": "1"})),
        ("equal numbers", json!({"a": 1}), json!({"a": 1.0}), json!(null), json!({"a": 1})),
        (
            "different numbers that are equal as floats",
            json!({"a": 9_007_199_254_740_993_i64}),
            json!({"a": 9_007_199_254_740_992.0}),
            json!(null),
            json!({"a": 9_007_199_254_740_992.0}),
        ),
    ];
    for (what, rendered, live, applied, expected) in cases {
        assert_eq!(shown(CUSTOM, &rendered, &live, &applied), expected, "{what}");
    }
}

#[test]
fn empty_field_equals_absent_field() {
    for nothing in [json!(null), json!({}), json!([]), json!({"b": null, "c": {"d": []}})] {
        let rendered = json!({"a": nothing});
        assert_eq!(shown(CUSTOM, &rendered, &json!({}), &json!(null)), rendered);
    }
    let cases = [
        (
            "an object that others filled",
            json!({"a": {}}),
            json!({"a": {"b": 1}}),
            json!(null),
            json!({"a": {}}),
        ),
        (
            "null, and others have set it",
            json!({"a": null}),
            json!({"a": 1}),
            json!(null),
            json!({"a": null}),
        ),
        ("null, after it was applied", json!({"a": null}), json!({"a": 1}), json!({"a": 1}), json!({"a": 1})),
        (
            "an empty object and an empty list",
            json!({"a": {}}),
            json!({"a": []}),
            json!(null),
            json!({"a": {}}),
        ),
        (
            "an empty list that others filled",
            json!({"a": []}),
            json!({"a": [1]}),
            json!(null),
            json!({"a": [1]}),
        ),
        (
            "empty strings, zero and false are values",
            json!({"a": "", "b": 0, "c": false}),
            json!({}),
            json!(null),
            json!({}),
        ),
    ];
    for (what, rendered, live, applied, expected) in cases {
        assert_eq!(shown(CUSTOM, &rendered, &live, &applied), expected, "{what}");
    }
}

#[test]
fn list_items_match_by_index_in_lists_of_equal_length() {
    let cases = [
        (
            "fields set by others",
            json!([{"a": 1}]),
            json!([{"a": 1, "b": 2}]),
            json!(null),
            json!([{"a": 1}]),
        ),
        (
            "a field that was applied",
            json!([{"a": 1}]),
            json!([{"a": 1, "b": 2}]),
            json!([{"a": 1, "b": 2}]),
            json!([{"a": 1, "b": 2}]),
        ),
        (
            "one more",
            json!([{"a": 1}]),
            json!([{"a": 1, "b": 2}, {"a": 2}]),
            json!(null),
            json!([{"a": 1, "b": 2}, {"a": 2}]),
        ),
        ("one less", json!([1, 2]), json!([1]), json!(null), json!([1])),
        ("another order", json!([1, 2]), json!([2, 1]), json!(null), json!([2, 1])),
        (
            "applied in another length",
            json!([{"a": 1}]),
            json!([{"a": 1, "b": 2}]),
            json!([{"a": 1, "b": 2}, {}]),
            json!([{"a": 1}]),
        ),
    ];
    for (what, rendered, live, applied, expected) in cases {
        let wrapped = |list: Value| json!({"l": list});
        let applied = if applied.is_null() { applied } else { wrapped(applied) };
        assert_eq!(shown(CUSTOM, &wrapped(rendered), &wrapped(live), &applied), wrapped(expected), "{what}");
    }
}

#[test]
fn kubernetes_list_items_match_by_key() {
    let cases = [
        (
            "defaults",
            json!([{"name": "a"}]),
            json!([{"name": "a", "imagePullPolicy": "Always"}]),
            json!(null),
            json!([{"name": "a"}]),
        ),
        (
            "a sidecar of others",
            json!([{"name": "a"}]),
            json!([{"name": "proxy"}, {"name": "a", "tty": true}]),
            json!(null),
            json!([{"name": "a"}]),
        ),
        (
            "not rendered any more",
            json!([{"name": "a"}]),
            json!([{"name": "b", "x": 1}, {"name": "a"}]),
            json!([{"name": "a"}, {"name": "b"}]),
            json!([{"name": "b", "x": 1}, {"name": "a"}]),
        ),
        (
            "one more",
            json!([{"name": "a"}, {"name": "b"}]),
            json!([{"name": "a"}]),
            json!(null),
            json!([{"name": "a"}]),
        ),
        (
            "another order",
            json!([{"name": "a"}, {"name": "b"}]),
            json!([{"name": "b"}, {"name": "a"}]),
            json!(null),
            json!([{"name": "b"}, {"name": "a"}]),
        ),
        (
            "a field of an item that was applied",
            json!([{"name": "a"}]),
            json!([{"name": "a", "x": 1, "y": 2}]),
            json!([{"name": "a", "x": 1}]),
            json!([{"name": "a", "x": 1}]),
        ),
        (
            "a duplicate live key",
            json!([{"name": "a"}]),
            json!([{"name": "a", "x": 1}, {"name": "a"}]),
            json!(null),
            json!([{"name": "a", "x": 1}, {"name": "a"}]),
        ),
        (
            "a duplicate key",
            json!([{"name": "a"}, {"name": "a"}]),
            json!([{"name": "a"}, {"name": "a", "x": 1}]),
            json!(null),
            json!([{"name": "a"}, {"name": "a"}]),
        ),
        (
            "no key",
            json!([{"x": 1}]),
            json!([{"name": "a"}, {"name": "b"}]),
            json!(null),
            json!([{"name": "a"}, {"name": "b"}]),
        ),
    ];
    for (what, rendered, live, applied, expected) in cases {
        let pod = |containers: Value| json!({"spec": {"containers": containers}});
        let applied = if applied.is_null() { applied } else { pod(applied) };
        assert_eq!(shown(POD, &pod(rendered), &pod(live), &applied), pod(expected), "{what}");
    }
    let ports = |ports: Value| json!({"spec": {"containers": [{"name": "a", "ports": ports}]}});
    // The default protocol is part of the key. Others have added a third port.
    let rendered = ports(json!([{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]));
    let live = ports(
        json!([{"containerPort": 9}, {"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}]),
    );
    assert_eq!(shown(POD, &rendered, &live, &json!(null)), rendered);
    let finalizers = |list: Value| json!({"metadata": {"finalizers": list}});
    let (rendered, live) = (finalizers(json!(["a"])), finalizers(json!(["others", "a"])));
    assert_eq!(shown(CUSTOM, &rendered, &live, &json!(null)), rendered);
}

#[test]
fn equivalent_kubernetes_values_are_equal() {
    let pod = |container: Value| json!({"spec": {"containers": [container]}});
    let cases = [
        (
            POD,
            pod(
                json!({"name": "a", "resources": {"limits": {"cpu": 1, "memory": "1024Mi"}}, "tty": false, "env": [{"name": "E", "value": ""}]}),
            ),
            pod(
                json!({"name": "a", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}, "env": [{"name": "E"}]}),
            ),
        ),
        (
            ("", "Service"),
            json!({"spec": {"clusterIP": "", "ports": [{"port": 80, "nodePort": 0}]}}),
            json!({"spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 80, "protocol": "TCP", "nodePort": 31_234}]}}),
        ),
    ];
    for (kind, rendered, live) in cases {
        assert_eq!(shown(kind, &rendered, &live, &json!(null)), rendered);
    }
    let limits = |cpu: &str| pod(json!({"name": "a", "resources": {"limits": {"cpu": cpu}}}));
    assert_eq!(shown(POD, &limits("1"), &limits("1001m"), &json!(null)), limits("1001m"));
    assert_eq!(shown(CUSTOM, &limits("1"), &limits("1000m"), &json!(null)), limits("1000m"));
}

/// Values without lists and `null`, which a merge patch can set.
fn object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(1)), Just(json!("x")), Just(json!(true)), Just(json!("y"))];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop::collection::btree_map("[a-d]", inner, 1..4)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    })
    .prop_map(|value| json!({"spec": value}))
}

/// Returns the merge patch (RFC 7396) that turns one object into another.
fn patch_between(before: &Map<String, Value>, after: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, after) in after {
        match (before.get(key), after) {
            (Some(before), after) if before == after => {}
            (Some(Value::Object(before)), Value::Object(after)) => {
                patch.insert(key.clone(), Value::Object(patch_between(before, after)));
            }
            _ => {
                patch.insert(key.clone(), after.clone());
            }
        }
    }
    patch
}

fn apply(object: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, change) in patch {
        match (object.get_mut(key), change) {
            (_, Value::Null) => {
                object.remove(key);
            }
            (Some(Value::Object(inner)), Value::Object(change)) => apply(inner, change),
            _ => {
                object.insert(key.clone(), change.clone());
            }
        }
    }
}

proptest! {
    #[test]
    fn projection_is_idempotent(object in object(), applied in object()) {
        prop_assert_eq!(shown(CUSTOM, &object, &object, &json!(null)), object.clone());
        let twice = shown(CUSTOM, &object, &shown(CUSTOM, &object, &applied, &json!(null)), &json!(null));
        prop_assert_eq!(twice, shown(CUSTOM, &object, &applied, &json!(null)));
    }

    #[test]
    fn applying_the_diff_to_live_yields_rendered(rendered in object(), live in object(), applied in object()) {
        let before = shown(CUSTOM, &rendered, &live, &applied);
        let patch = patch_between(&fields(before), &fields(rendered.clone()));
        let mut synced = fields(live);
        apply(&mut synced, &patch);
        prop_assert_eq!(shown(CUSTOM, &rendered, &Value::Object(synced), &rendered), rendered);
    }
}
