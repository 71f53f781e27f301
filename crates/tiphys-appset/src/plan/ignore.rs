//! `spec.ignoreApplicationDifferences`: fields that are removed from both sides before they are compared.

use std::sync::Arc;

use serde_json::Value;
use tiphys_api::{APPLICATION, ApplicationSet, decode_value};
use tiphys_yaml::JsonPointer;

use super::text;
use crate::normalize_spec;

/// Removes from a value what a jq path expression selects. A value that the expression does not fit is left as it is.
pub type JqRemoval = Arc<dyn Fn(&mut Value) + Send + Sync>;

/// What Argo CD prints before an error of a rule.
const FAILED: &str = "failed to apply ignore differences: failed to normalize application spec: ";

/// The rules of a set. An invalid expression is an error only where Applications are compared.
pub(super) struct IgnoreRules(Result<Vec<Rule>, String>);

struct Rule {
    name: String,
    pointers: Vec<JsonPointer>,
    expressions: Vec<JqRemoval>,
}

impl IgnoreRules {
    pub(super) fn new(set: &ApplicationSet, jq: &dyn Fn(&str) -> Result<JqRemoval, String>) -> Self {
        let rules = set.ignore_application_differences.iter().map(|rule| {
            let expressions = rule.jq_path_expressions.iter().map(|expression| jq(expression));
            // As in Argo CD, what comes before the first slash does not count.
            let pointer = |text: &String| JsonPointer::parse(&text[text.find('/')?..]);
            Ok(Rule {
                name: rule.name.clone(),
                pointers: rule.json_pointers.iter().filter_map(pointer).collect(),
                expressions: expressions.collect::<Result<_, _>>()?,
            })
        });
        Self(rules.collect())
    }

    /// Removes the ignored fields of the canonical sides of a comparison. The result is canonical and normalised. Of the desired side, type,
    /// name, namespace and operation remain.
    pub(super) fn apply(&self, live: &mut Value, desired: &mut Value) -> Result<(), String> {
        let rules = self.0.as_ref().map_err(|error| format!("{FAILED}{error}"))?;
        let original = desired.clone();
        if !rules.is_empty() {
            remove(rules, live)?;
            remove(rules, desired)?;
            restore(&original, &["operation"], desired);
            restore(&original["metadata"], &["name", "namespace"], &mut desired["metadata"]);
        }
        for side in [live, desired] {
            restore(&original, &["apiVersion", "kind"], side);
            side.as_object_mut().and_then(|side| side.remove("status"));
        }
        Ok(())
    }
}

/// Removes what the rules select from one side.
fn remove(rules: &[Rule], side: &mut Value) -> Result<(), String> {
    side["apiVersion"] = Value::from("argoproj.io/v1alpha1");
    side["kind"] = Value::from("Application");
    let name = text(side, "name").to_owned();
    for rule in rules.iter().filter(|rule| rule.name.is_empty() || rule.name == name) {
        rule.pointers.iter().for_each(|pointer| pointer.remove_from(side));
        rule.expressions.iter().for_each(|removal| removal(side));
    }
    if side["kind"].as_str().is_none_or(str::is_empty) {
        return Err(format!("{FAILED}Object 'Kind' is missing"));
    }
    let decoded = decode_value(&APPLICATION, side).map_err(|error| format!("{FAILED}{}", error.go))?;
    *side = decoded.value;
    normalize_spec(&mut side["spec"]);
    Ok(())
}

/// Restores fields as they were.
fn restore(original: &Value, fields: &[&str], value: &mut Value) {
    let Some(value) = value.as_object_mut() else { return };
    for field in fields {
        match original.get(field) {
            Some(field_value) => drop(value.insert((*field).to_owned(), field_value.clone())),
            None => drop(value.remove(*field)),
        }
    }
}
