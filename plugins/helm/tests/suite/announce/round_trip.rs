//! Announced names as parameters: each sets exactly its value, as seen by the real helm.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use tiphys_helm_values::{PathItem, parse_name};

use crate::announce::world::{CHART, Helm, World, is_ignored_text};

/// Random charts for each version of helm.
const CHARTS: u32 = 10;

/// A template that prints its values.
pub(crate) const SEEN: &str = "kind: Seen\nseen: {{ toJson .Values | quote }}\n";

/// Characters of keys. Half of them are special in names.
const KEY: &str = "[a-zA-Z0-9.,=\\[\\]\\\\{}/: \"'#$%-]{1,6}";

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        "[ -~]{0,8}".prop_map(Value::from),
        Just(json!(12_345_678)),
        Just(Value::Null),
    ]
}

/// A value without empty lists and objects, which are not announced.
fn filled() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..3).prop_map(Value::from),
            btree_map(KEY, inner, 1..3).prop_map(Value::from_iter),
        ]
    })
}

/// The values of a chart.
fn values() -> impl Strategy<Value = Map<String, Value>> {
    let one = prop_oneof![4 => filled().boxed(), 1 => Just(json!({})).boxed(), 1 => Just(json!([])).boxed()];
    let inner = one.clone();
    let deep = btree_map(KEY, inner, 0..4).prop_map(Value::from_iter);
    btree_map(KEY, prop_oneof![3 => one.boxed(), 1 => deep.boxed()], 1..6)
        .prop_map(|map| map.into_iter().collect())
}

/// A chart with a subchart.
fn chart(values: &Map<String, Value>, of_subchart: &Map<String, Value>) -> World {
    World::with_values(&Value::from(values.clone()).to_string())
        .chart_file("templates/seen.yaml", SEEN)
        .chart_file("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.1.0\n")
        .chart_file("charts/sub/values.yaml", Value::from(of_subchart.clone()).to_string())
}

/// Returns the values that a template sees.
pub(crate) fn seen(world: &World, helm: Helm) -> Value {
    let answer = world.run(helm, "generate");
    let others: Vec<&str> = answer.stderr.lines().filter(|line| !is_ignored_text(line)).collect();
    assert_eq!((answer.code, others), (Some(0), Vec::new()));
    let document = tiphys_yaml::read_document(answer.stdout.as_bytes()).expect("YAML").expect("an object");
    serde_json::from_str(document.get("seen").and_then(|seen| seen.as_str()).expect("text")).expect("JSON")
}

/// Sets a value at an existing path, or under a key that was `null`.
fn put(at: &mut Value, path: &[PathItem], value: Value) {
    let Some((item, rest)) = path.split_first() else {
        *at = value;
        return;
    };
    let below = match item {
        PathItem::Index(index) => at.get_mut(index).expect("the item exists"),
        PathItem::Key(key) => {
            if at.is_null() {
                *at = json!({});
            }
            at.as_object_mut().expect("an object").entry(key.clone()).or_insert(Value::Null)
        }
    };
    put(below, rest, value);
}

/// Sets all announced values to unique strings. Returns the seen and the expected values.
fn all_set(world: World, helm: Helm) -> (Value, Value) {
    let mut expected = seen(&world, helm);
    let names: Vec<String> = world.announced_values().into_iter().map(|one| one.name).collect();
    let mut changed = world;
    for (number, name) in names.iter().enumerate() {
        let text = format!("v, {number}");
        changed = changed.text(name, &text);
        let path = parse_name(name.strip_prefix("set.").expect("a value")).expect("valid name");
        put(&mut expected, &path, Value::from(text));
    }
    (seen(&changed, helm), expected)
}

#[test]
fn each_announced_name_sets_exactly_its_value() {
    for helm in Helm::ALL {
        let mut runner = TestRunner::new_with_rng(
            Config { cases: CHARTS, failure_persistence: None, max_shrink_iters: 40, ..Config::default() },
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        );
        let result = runner.run(&(values(), values()), |(values, of_subchart)| {
            let (seen, expected) = all_set(chart(&values, &of_subchart), helm);
            prop_assert_eq!(seen, expected);
            Ok(())
        });
        if let Err(error) = result {
            panic!("{helm:?}: {error}");
        }
    }
}

#[test]
fn special_values_are_set_individually() {
    let values = json!({
        "image": {"tag": null, "pull": {}}, "labels": {"app.kubernetes.io/name": "web", "a,b=c[0]\\": 1}, "big": 12_345_678,
        "global": {"region": "eu"}, "sub": {"size": 2},
    });
    let of_subchart = json!({"size": 1, "user": "admin", "global": {"zone": "z"}});
    for helm in Helm::ALL {
        let chart = || {
            let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
            chart(&object(&values), &object(&of_subchart))
        };
        let before = seen(&chart(), helm);
        for (name, path) in [
            ("set.image.tag", "/image/tag"),
            (r"set.labels.app\.kubernetes\.io/name", "/labels/app.kubernetes.io~1name"),
            (r"set.labels.a\,b\=c\[0]\\", r"/labels/a,b=c[0]\"),
            ("set.big", "/big"),
            ("set.sub.user", "/sub/user"),
        ] {
            let world = chart();
            assert!(world.announced_values().iter().any(|one| one.name == name), "{name} is announced");
            let mut after = seen(&world.text(name, "other"), helm);
            let set = after.pointer_mut(path).map(Value::take);
            assert_eq!(set, Some(json!("other")), "{name} with {helm:?}");
            let mut left = before.clone();
            let key = |key: &str| PathItem::Key(key.to_owned());
            if let Some(value) = left.pointer_mut(path) {
                *value = Value::Null;
            } else {
                put(&mut left, &[key("image"), key("tag")], Value::Null);
            }
            assert_eq!(after, left, "{name} with {helm:?}");
        }
        // Without the parameter, the chart's value applies again.
        assert_eq!(seen(&chart(), helm), before);
        let region = seen(&chart().text("set.global.zone", "other"), helm);
        assert_eq!(
            region.pointer("/sub/global/zone"),
            Some(&json!("other")),
            "a global value reaches the subchart"
        );
    }
}

#[test]
fn one_item_of_a_values_file_list_is_set_alone() {
    for helm in Helm::ALL {
        let world = World::with_values("list: [x]\n")
            .chart_file("templates/seen.yaml", SEEN)
            .text("values", "list: [a, b, c]\n");
        assert_eq!(world.lines(), ["list[0] a", "list[1] b", "list[2] c"]);
        assert_eq!(
            seen(&world.text("set.list[1]", "z"), helm),
            json!({"list": ["a", "z", "c"]}),
            "{CHART} with {helm:?}"
        );
    }
}
