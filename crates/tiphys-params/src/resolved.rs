//! Parameters whose values were read from a cluster.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use tiphys_yaml::write_go_json;

use crate::environment::{app_parameters, parameter_variables};
use crate::{EnvVar, Parameter};

/// The variable with all parameters.
pub const APP_PARAMETERS: &str = "ARGOCD_APP_PARAMETERS";

/// A parameter whose value was read from a cluster. `Debug` writes only its name, and it has no serialized form.
#[derive(Clone, PartialEq, Eq)]
pub struct ResolvedParameter {
    parameter: Parameter,
    is_from_secret: bool,
}

impl ResolvedParameter {
    /// Creates a parameter. `is_from_secret` tells whether its value was read from a Secret.
    pub fn new(parameter: Parameter, is_from_secret: bool) -> Self {
        Self { parameter, is_from_secret }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.parameter.name
    }

    /// Returns whether the value was read from a Secret.
    pub fn is_from_secret(&self) -> bool {
        self.is_from_secret
    }

    /// Returns the parameter with its value, for the plugin only.
    pub fn expose(&self) -> &Parameter {
        &self.parameter
    }
}

impl fmt::Debug for ResolvedParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResolvedParameter({:?})", self.parameter.name)
    }
}

/// Returns the value of `ARGOCD_APP_PARAMETERS` with these parameters after those of the variable's value, which is a list or `null`.
pub fn with_resolved(list: &str, resolved: &[ResolvedParameter]) -> String {
    let exposed: Vec<Parameter> = resolved.iter().map(|one| one.parameter.clone()).collect();
    let added = app_parameters(Some(&exposed));
    match list.strip_suffix(']').filter(|items| items.len() > 1) {
        _ if exposed.is_empty() => list.to_owned(),
        Some(items) => format!("{items},{}", &added[1..]),
        None => added,
    }
}

/// Adds these parameters to the variables of a request, as the protocol defines: to `ARGOCD_APP_PARAMETERS`, and as `PARAM_*`.
pub fn add_resolved(variables: &mut Vec<EnvVar>, resolved: &[ResolvedParameter]) {
    if resolved.is_empty() {
        return;
    }
    let list = variables.iter().rfind(|one| one.name == APP_PARAMETERS).map_or("null", |one| &one.value);
    let list = with_resolved(list, resolved);
    variables.retain(|one| one.name != APP_PARAMETERS);
    variables.push(EnvVar::new(APP_PARAMETERS, list));
    variables
        .extend(resolved.iter().flat_map(|one| parameter_variables(std::slice::from_ref(&one.parameter))));
}

/// Minimum length of a value that is replaced in messages, in characters. Shorter ones would also match ordinary words.
pub const REDACTED_CHARS_MIN: usize = 4;

/// Replaces the values of parameters in what a plugin prints.
#[derive(Clone, Default)]
pub struct ValueRedactor {
    /// The values and their escaped forms, the longest first.
    values: Vec<String>,
    withholds: bool,
}

impl ValueRedactor {
    /// Returns a redactor for these parameters.
    pub fn new(resolved: &[ResolvedParameter]) -> Self {
        let mut strings = BTreeSet::new();
        for Parameter { string, array, map, .. } in resolved.iter().map(|one| &one.parameter) {
            let leaves =
                string.iter().chain(array.iter().flatten()).chain(map.iter().flat_map(BTreeMap::values));
            for leaf in leaves {
                // The Helm plugin gets JSON.
                if let Ok(value) = serde_json::from_str(leaf) {
                    add_leaves(&value, &mut strings);
                }
                add_forms(leaf, &mut strings);
            }
        }
        let mut values: Vec<String> =
            strings.into_iter().filter(|one| one.chars().count() >= REDACTED_CHARS_MIN).collect();
        values.sort_by_key(|one| std::cmp::Reverse(one.len()));
        Self { values, withholds: resolved.iter().any(|one| one.is_from_secret) }
    }

    /// Returns a message without the values. If one was read from a Secret, the message is withheld.
    pub fn redact<'a>(&self, message: &'a str) -> Cow<'a, str> {
        if self.withholds && !message.is_empty() {
            return Cow::Borrowed("(output withheld, because a parameter was read from a Secret)");
        }
        self.values.iter().fold(Cow::Borrowed(message), |message, value| {
            if message.contains(value) { Cow::Owned(message.replace(value, "******")) } else { message }
        })
    }
}

fn add_leaves(value: &Value, strings: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| add_leaves(item, strings)),
        Value::Object(entries) => entries.values().for_each(|entry| add_leaves(entry, strings)),
        Value::String(text) => add_forms(text, strings),
        Value::Number(number) => strings.extend([number.to_string()]),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Adds a string, its lines, and how JSON and Go escape them.
fn add_forms(text: &str, strings: &mut BTreeSet<String>) {
    for part in text.lines().map(str::trim).chain([text]) {
        let json = write_go_json(&Value::String(part.to_owned()));
        strings.extend([
            part.to_owned(),
            json[1..json.len() - 1].to_owned(),
            part.escape_debug().to_string(),
        ]);
    }
}

#[cfg(test)]
mod tests;
