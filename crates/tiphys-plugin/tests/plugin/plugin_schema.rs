//! The JSON Schema of plugin files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tiphys_plugin::config::SCHEMA;
use tiphys_plugin::config::check::{Finding, ProgramState, check};
use tiphys_testkit::{fixture, oracle, workspace_root};

/// Rules of `plugin check` whose findings an editor shows, too: those about keys, types and values.
const SEEN_BY_EDITORS: [&str; 14] = [
    "wrong-type",
    "missing-name",
    "wrong-kind",
    "missing-generate",
    "unusable-name",
    "null-announcement",
    "announcement-without-name",
    "unknown-collection-type",
    "wrong-api-version",
    "unknown-key",
    "deprecated-key",
    "unusable-value",
    "unknown-item-type",
    "invalid-choices",
];

/// Recorded files with a key in another letter case: Argo CD accepts it, the schema does not.
const SPELLED_OTHERWISE: [&str; 4] = ["key-case-spec", "key-case-filename", "key-long-s", "key-kelvin"];

/// A validator for the part of JSON Schema that the schema uses. An unknown keyword is an error.
struct Validator {
    schema: Value,
}

impl Validator {
    fn new() -> Self {
        Self { schema: serde_json::from_str(SCHEMA).expect("the schema is JSON") }
    }

    fn problems(&self, value: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        self.check(&self.schema, value, "", &mut problems);
        problems
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            let holds = match keyword.as_str() {
                "$schema" | "title" | "description" | "definitions" => true,
                "type" => types(rule).iter().any(|name| is_of_type(value, name)),
                "const" => value == rule,
                "enum" => rule.as_array().expect("a list").contains(value),
                "pattern" => {
                    let pattern = regex::Regex::new(rule.as_str().expect("a text")).expect("a pattern");
                    value.as_str().is_none_or(|text| pattern.is_match(text))
                }
                "minLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 >= number(rule)),
                "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= number(rule)),
                "uniqueItems" => value
                    .as_array()
                    .is_none_or(|items| (1..items.len()).all(|end| !items[..end].contains(&items[end]))),
                "required" => value
                    .as_object()
                    .is_none_or(|object| types(rule).iter().all(|key| object.contains_key(*key))),
                "properties" => {
                    for (key, property) in rule.as_object().expect("an object") {
                        if let Some(inner) = value.get(key) {
                            self.check(property, inner, &format!("{at}.{key}"), problems);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = |key: &String| schema["properties"].get(key).is_some();
                    let more: Vec<_> =
                        value.as_object().into_iter().flatten().filter(|(key, _)| !known(key)).collect();
                    if rule.is_object() {
                        for (key, inner) in &more {
                            self.check(rule, inner, &format!("{at}.{key}"), problems);
                        }
                    }
                    *rule != Value::Bool(false) || more.is_empty()
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}[{index}]"), problems);
                    }
                    true
                }
                "allOf" => {
                    for part in rule.as_array().expect("a list") {
                        self.check(part, value, at, problems);
                    }
                    true
                }
                "$ref" => {
                    let pointer = rule.as_str().and_then(|text| text.strip_prefix('#')).expect("a pointer");
                    let referred = self.schema.pointer(pointer).expect("the definition is there");
                    self.check(referred, value, at, problems);
                    true
                }
                other => panic!("{other} is not known"),
            };
            if !holds {
                problems.push(format!("{at}: {keyword}"));
            }
        }
    }
}

/// The types of a rule: a list or one string.
fn types(rule: &Value) -> Vec<&str> {
    rule.as_str()
        .into_iter()
        .chain(rule.as_array().into_iter().flatten().map(|word| word.as_str().expect("a word")))
        .collect()
}

fn number(rule: &Value) -> u64 {
    rule.as_u64().expect("a number")
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not known"),
    }
}

/// The document as an editor parses it.
fn document(text: &[u8]) -> Option<Value> {
    Some(tiphys_yaml::read_document(text).ok()??.deduplicated().to_value())
}

fn seen_by_editors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| {
        SEEN_BY_EDITORS.contains(&finding.rule.name()) || finding.message.contains("another letter case")
    })
}

fn plugin_files() -> Vec<PathBuf> {
    ["examples/plugins", "plugins"]
        .iter()
        .flat_map(|folder| fixture::cases(&workspace_root().join(folder)))
        .map(|folder| folder.join("plugin.yaml"))
        .collect()
}

#[test]
fn schema_accepts_the_plugins_of_this_repository() {
    let validator = Validator::new();
    for file in plugin_files() {
        let value = document(&fs::read(&file).expect("the file can be read")).expect("it has a document");
        assert_eq!(validator.problems(&value), Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn schema_accepts_files_without_findings() {
    let validator = Validator::new();
    let mut refused: Vec<String> = Vec::new();
    let mut taken = 0;
    for case in oracle::cases("plugin-config") {
        let (Some(text), None) = (case["input"]["yaml"].as_str(), case["output"]["error"].as_str()) else {
            continue;
        };
        let seen = seen_by_editors(&check(text.as_bytes(), "plugin.yaml", &|_| ProgramState::Found).findings);
        let Some(value) = document(text.as_bytes()).filter(|_| !seen) else { continue };
        if validator.problems(&value).is_empty() {
            taken += 1;
        } else {
            refused.push(case["id"].as_str().expect("an id").to_owned());
        }
    }
    assert_eq!(refused, SPELLED_OTHERWISE);
    assert!(taken > 20, "only {taken} recorded files are taken");
}

#[test]
fn schema_rejects_mistakes_in_keys_types_and_words() {
    let validator = Validator::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/check");
    for case in fixture::cases(&folder) {
        let text = fs::read(case.join("plugin.yaml")).expect("the plugin's file");
        let Some(value) = document(&text).filter(|value| !value.is_null()) else { continue };
        let findings = check(&text, "plugin.yaml", &|_| ProgramState::Found).findings;
        let due = seen_by_editors(&findings);
        let problems = validator.problems(&value);
        assert_eq!(!problems.is_empty(), due, "{}: {problems:?} {findings:?}", case.display());
    }
}
