//! `spec.ignoreApplicationDifferences`, and the annotation of an Application: fields that are removed from both sides before they are compared.

use std::sync::Arc;

use serde_json::Value;
use tiphys_model::resources::{APPLICATION, ApplicationSet, decode_value};
use tiphys_yaml::JsonPointer;

use super::text;
use crate::appset::normalize_spec;
use crate::json_pointers::{annotated_pointers, patch_pointer};

/// Removes from a value what a jq path expression selects. A value that the expression does not fit is left as it is. The error is an exceeded
/// limit, with the remedy; the value is left as it is then, too.
pub type JqRemoval = Arc<dyn Fn(&mut Value) -> Result<(), String> + Send + Sync>;

/// Argo CD's prefix of an error of a rule.
const FAILED: &str = "failed to apply ignore differences: failed to normalize application spec: ";

/// The rules of a set. An invalid expression is an error only where Applications are compared.
pub(super) struct IgnoreRules(Result<Vec<Rule>, String>);

struct Rule {
    name: String,
    pointers: Vec<JsonPointer>,
    /// The expressions with their sources.
    expressions: Vec<(String, JqRemoval)>,
}

impl IgnoreRules {
    pub(super) fn new(set: &ApplicationSet, jq: &dyn Fn(&str) -> Result<JqRemoval, String>) -> Self {
        let rules = set.ignore_application_differences.iter().map(|rule| {
            let expressions = rule.jq_path_expressions.iter();
            let expressions = expressions.map(|expression| Ok((expression.clone(), jq(expression)?)));
            Ok(Rule {
                name: rule.name.clone(),
                pointers: rule.json_pointers.iter().filter_map(|text| patch_pointer(text)).collect(),
                expressions: expressions.collect::<Result<_, String>>()?,
            })
        });
        Self(rules.collect())
    }

    /// Removes the ignored fields of the canonical sides of a comparison. The result is canonical and normalised. Of the desired side, type,
    /// name, namespace and operation remain. Adds a warning for each expression that exceeds a limit for the first time; Argo CD also compares
    /// what it would remove.
    pub(super) fn apply(
        &self,
        live: &mut Value,
        desired: &mut Value,
        warnings: &mut Vec<String>,
    ) -> Result<(), String> {
        let rules = self.0.as_ref().map_err(|error| format!("{FAILED}{error}"))?;
        let original = desired.clone();
        if !rules.is_empty() {
            // Argo CD reads the annotation only if the set has rules.
            let annotated = annotated_pointers(&original["metadata"]);
            remove(rules, &annotated, live, warnings)?;
            remove(rules, &annotated, desired, warnings)?;
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

/// Removes what the rules and the annotation select from one side.
fn remove(
    rules: &[Rule],
    annotated: &[JsonPointer],
    side: &mut Value,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    side["apiVersion"] = Value::from("argoproj.io/v1alpha1");
    side["kind"] = Value::from("Application");
    let name = text(side, "name").to_owned();
    for rule in rules.iter().filter(|rule| rule.name.is_empty() || rule.name == name) {
        rule.pointers.iter().for_each(|pointer| pointer.remove_from(side));
        for (expression, removal) in &rule.expressions {
            let Err(reason) = removal(side) else { continue };
            let what = format!("spec.ignoreApplicationDifferences: {expression:?} is not applied to ");
            if !warnings.iter().any(|warning| warning.starts_with(&what)) {
                warnings.push(format!("{what}application {name}, and perhaps to others: {reason}"));
            }
        }
    }
    for pointer in annotated {
        pointer.remove_from(side);
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
