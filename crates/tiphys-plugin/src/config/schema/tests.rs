use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::PluginFile;
use super::super::check::ANNOUNCEMENT_KEYS;
use super::super::file::Ignored;
use super::SCHEMA;

/// A file with every object that the reader decodes, each with an unknown key.
const STRANGE: &str = "
x: 1
spec:
  x: 1
  init: {x: 1}
  generate: {x: 1}
  discover: {x: 1, find: {x: 1}}
  parameters: {x: 1, dynamic: {x: 1}}
";

/// A file with every field of the metadata and of an announcement.
const WHOLE: &str = "
metadata: {name: p, labels: {a: b}, annotations: {a: b}}
spec:
  parameters:
    static:
    - {name: a, title: t, tooltip: t, required: true, itemType: t, collectionType: t, string: s, array: [a], map: {a: b}, choices: [a]}
";

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

/// The schema of a value, inline or by reference.
fn resolved<'a>(schema: &'a Value, node: &'a Value) -> &'a Value {
    match node.pointer("/allOf/0/$ref").and_then(Value::as_str) {
        Some(reference) => &schema["definitions"][reference.rsplit('/').next().expect("a name")],
        None => node,
    }
}

fn properties<'a>(schema: &'a Value, path: &str) -> BTreeSet<&'a str> {
    let mut node = schema;
    for key in path.split('.').filter(|key| !key.is_empty()) {
        node = resolved(schema, &node["properties"][key]);
    }
    keys(&node["properties"])
}

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn schema_has_exactly_the_keys_of_the_reader() {
    let node = tiphys_yaml::read_document(STRANGE.as_bytes()).expect("YAML").expect("a document");
    let file = PluginFile::decode(&node).expect("the types hold");
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for ignored in &file.ignored {
        let Ignored::Unknown { path, known: keys, .. } = ignored else { panic!("{ignored:?}") };
        let object = path.strip_suffix('x').expect("the strange key").trim_end_matches('.');
        known.insert(object, keys.iter().copied().collect());
    }
    assert_eq!(known.len(), 8, "every object was looked into");
    let schema = schema();
    for (path, keys) in known {
        assert_eq!(properties(&schema, path), keys, "{path}");
    }
}

#[test]
fn schema_has_all_metadata_and_announcement_fields() {
    let file = PluginFile::read(WHOLE.as_bytes()).expect("it is read").to_json();
    let schema = schema();
    assert_eq!(properties(&schema, "metadata"), keys(&file["metadata"]));
    let announcement = keys(&schema["definitions"]["announcement"]["properties"]);
    assert_eq!(announcement, keys(&file["spec"]["parameters"]["static"][0]));
    assert_eq!(announcement, ANNOUNCEMENT_KEYS.into_iter().collect());
}

#[test]
fn keys_of_the_schema_are_described() {
    fn check(name: &str, node: &Value) {
        for (key, property) in node["properties"].as_object().into_iter().flatten() {
            let text = property["description"].as_str().unwrap_or_default();
            assert!(text.ends_with('.'), "{name}.{key} has a sentence");
            check(key, property);
        }
    }
    let schema = schema();
    check("", &schema);
    schema["definitions"].as_object().expect("definitions").iter().for_each(|(name, node)| check(name, node));
}
