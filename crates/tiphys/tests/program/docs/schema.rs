//! Generates docs/reference/plugin-yaml.md from the schema that editors use.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Map, Value};
use tiphys_testkit::{fixture, workspace_root};

/// The beginning of the page.
const INTRODUCTION: &str = "# Keys of plugin.yaml

<!-- Written by `UPDATE=1 cargo test -p tiphys --test program -- docs::schema` from the schema; do not edit. -->

For plugin authors. This page lists every key that is read. Argo CD's plugin server reads the same file and ignores keys marked \"tiphys only\".
`tiphys plugin schema` prints this reference as a JSON Schema for your editor. [Writing a plugin](../writing-a-plugin.md) explains how to use the keys,
and [Rules of plugin check](../plugin-rules.md) explains what `tiphys plugin check` reports.
";

/// The schema, which `tiphys plugin schema` prints.
const SCHEMA: &str = "crates/tiphys-plugin/src/config/plugin.schema.json";

#[test]
fn page_of_plugin_yaml_has_every_key_of_the_schema() {
    let text = fs::read_to_string(workspace_root().join(SCHEMA)).expect("the schema can be read");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n## The file\n\n| key | value | means |\n|---|---|---|\n");
    write_keys(&mut page, "", &schema, &schema);
    page.push_str("\n## An announcement\n\n");
    page.push_str(
        "An entry of `spec.parameters.static` and of the list that `spec.parameters.dynamic` prints.\n\n",
    );
    page.push_str("| key | value | means |\n|---|---|---|\n");
    write_keys(&mut page, "", &schema["definitions"]["announcement"], &schema);
    fixture::compare(&workspace_root().join("docs/reference/plugin-yaml.md"), &page);
}

/// Writes a line for each key of a schema, recursively.
fn write_keys(page: &mut String, path: &str, schema: &Value, root: &Value) {
    let none = Map::new();
    for (name, key) in schema["properties"].as_object().unwrap_or(&none) {
        let path = format!("{path}{name}");
        let referred = resolved(key, root);
        let required =
            schema["required"].as_array().is_some_and(|names| names.contains(&Value::from(name.as_str())));
        let means = key["description"].as_str().unwrap_or_default().replace('|', "\\|").replace('*', "\\*");
        let required = if required { " (required)" } else { "" };
        let has_keys = referred["properties"].is_object();
        let kind = if has_keys { "keys below".to_owned() } else { kind(key, referred, root) };
        writeln!(page, "| `{path}`{required} | {kind} | {means} |").expect("a string can be written to");
        if has_keys {
            write_keys(page, &format!("{path}."), referred, root);
        }
    }
}

/// Resolves a reference.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref"));
    let pointer = reference.and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    pointer.map_or(schema, |pointer| root.pointer(pointer).expect("the reference exists"))
}

/// Describes the type of a value.
fn kind(key: &Value, referred: &Value, root: &Value) -> String {
    let quoted = |values: &[Value]| -> String {
        let values = values.iter().filter_map(Value::as_str).filter(|value| !value.is_empty());
        values.map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
    };
    if let Some(only) = key["const"].as_str() {
        return format!("`{only}`");
    }
    if let Some(values) = key["enum"].as_array() {
        return quoted(values);
    }
    let word = referred["type"].as_str().or_else(|| referred["type"][0].as_str()).expect("a key has a type");
    match word {
        "array" if resolved(&referred["items"], root)["properties"].is_object() => "list of announcements",
        "array" => "list of strings",
        "object" => "map of strings",
        "boolean" => "`true`, `false`",
        "string" => "string",
        other => panic!("no description of the type {other}"),
    }
    .to_owned()
}
