use serde_json::Value;
use tiphys_yaml::read_document;

use super::super::super::content::Words;
use super::{api_versions, manifests, schema_of, text_of_values, values};

/// Values that are neither maps nor lists.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.values().map(leaves).sum(),
        Value::Array(list) => list.iter().map(leaves).sum(),
        _ => 1,
    }
}

fn read(text: &str) -> Value {
    let document = read_document(text.as_bytes()).expect("YAML").expect("a document");
    serde_json::from_str(&document.to_json()).expect("JSON")
}

#[test]
fn a_chart_has_as_many_values_as_were_asked_for() {
    for count in [10, 500, 2_000] {
        assert_eq!(leaves(&read(&values("components", count, &mut Words::new(0)))), count);
    }
}

#[test]
fn charts_are_the_same_in_every_run() {
    let text = || values("components", 50, &mut Words::new(0));
    assert_eq!(text(), text());
}

#[test]
fn the_schema_names_every_value() {
    let schema = schema_of(20);
    let components = read(&values("components", 20, &mut Words::new(0)));
    let named = |value: &Value, schema: &Value| -> bool {
        fn all(value: &Value, schema: &Value) -> bool {
            match value {
                Value::Object(map) => map.iter().all(|(key, value)| all(value, &schema["properties"][key])),
                _ => schema.is_object(),
            }
        }
        all(value, schema)
    };
    assert!(named(&components, &schema), "{schema:#}");
}

#[test]
fn texts_have_about_the_size_that_was_asked_for() {
    for text in [text_of_values(1 << 20), manifests(1 << 20)] {
        assert!((1 << 20..(1 << 20) + 50_000).contains(&text.len()), "{}", text.len());
    }
}

#[test]
fn a_cluster_has_groups_and_their_kinds() {
    assert_eq!(api_versions().split(',').count(), 240);
}
