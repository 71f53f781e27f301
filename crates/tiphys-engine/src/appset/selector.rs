//! Selectors of parameter sets: Kubernetes' label selectors, but with any values.

use std::collections::BTreeMap;

use serde_json::Value;
use tiphys_model::resources::{
    LabelOperator, LabelRequirement, LabelSelectorSpec, SelectorExpression, SubdomainProblem,
    subdomain_problems,
};
use tiphys_yaml::write_go_json;

/// The rule for values of labels, in the words of Kubernetes.
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and \
     end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// Maximum length of a label's value in bytes.
const LABEL_VALUE_BYTES_MAX: usize = 63;

/// A selector is invalid, in Argo CD's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error parsing label selector: {message}")]
pub struct SelectorError {
    message: String,
}

/// A selector of flattened parameter sets. An empty one selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterSelector {
    requirements: Vec<LabelRequirement>,
}

impl ParameterSelector {
    /// Checks a selector. Keys must be qualified names (`prefix/name`).
    pub fn new(spec: &LabelSelectorSpec) -> Result<Self, SelectorError> {
        let equal = |(key, value): (&String, &String)| {
            requirement(key, LabelOperator::In, std::slice::from_ref(value))
        };
        let labels = spec.match_labels.iter().map(equal);
        let expressions = spec.match_expressions.iter().map(expressed);
        let requirements = labels.chain(expressions).collect::<Result<_, _>>();
        requirements.map(|requirements| Self { requirements }).map_err(|message| SelectorError { message })
    }

    /// Checks a selector of the labels of an object, whose values are restricted, too.
    pub fn of_labels(spec: &LabelSelectorSpec) -> Result<Self, String> {
        let selector = Self::new(spec).map_err(|error| error.message)?;
        for LabelRequirement { key, values, .. } in &selector.requirements {
            if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !is_label_value(value))
            {
                return Err(format!("values[{index}][{key}]: Invalid value: {value:?}: {LABEL_VALUE}"));
            }
        }
        Ok(selector)
    }

    /// Returns whether a set, flattened by [`tiphys_go::gotemplate::flatten`], is selected.
    pub fn matches(&self, flat: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| requirement.is_met(flat.get(&requirement.key)))
    }
}

fn expressed(
    SelectorExpression { key, operator, values }: &SelectorExpression,
) -> Result<LabelRequirement, String> {
    let operator =
        operator.parse().map_err(|_unknown| format!("{operator:?} is not a valid pod selector operator"))?;
    requirement(key, operator, values)
}

fn requirement(key: &str, operator: LabelOperator, values: &[String]) -> Result<LabelRequirement, String> {
    let mut problems = Vec::new();
    let names = name_problems(key);
    if !names.is_empty() {
        problems.push(format!("key: Invalid value: {key:?}: {}", names.join("; ")));
    }
    let printed = if values.is_empty() { "null".to_owned() } else { write_go_json(&Value::from(values)) };
    let values_problem = match operator {
        LabelOperator::In | LabelOperator::NotIn if values.is_empty() => {
            Some("for 'in', 'notin' operators, values set can't be empty")
        }
        LabelOperator::Exists | LabelOperator::DoesNotExist if !values.is_empty() => {
            Some("values set must be empty for exists and does not exist")
        }
        _ => None,
    };
    problems.extend(values_problem.map(|problem| format!("values: Invalid value: {printed}: {problem}")));
    match problems.as_slice() {
        [] => Ok(LabelRequirement { key: key.to_owned(), operator, values: values.to_vec() }),
        [problem] => Err(problem.clone()),
        _ => Err(format!("[{}]", problems.join(", "))),
    }
}

/// Maximum length of the name part of a key, in bytes.
const NAME_BYTES_MAX: usize = 63;

/// Returns what is wrong with a qualified name, as Kubernetes words it.
fn name_problems(key: &str) -> Vec<String> {
    const CHARACTERS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    const EXAMPLES: &str = "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let mut problems = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            problems.extend(prefix_problems(prefix));
            *name
        }
        _ => {
            let prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {CHARACTERS} {EXAMPLES} {prefix}")];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_BYTES_MAX {
        problems.push(format!("name part must be no more than {NAME_BYTES_MAX} bytes"));
    }
    if !is_delimited(name, |byte| byte.is_ascii_alphanumeric(), is_name_byte) {
        problems.push(format!("name part {CHARACTERS} {EXAMPLES}"));
    }
    problems
}

fn prefix_problems(prefix: &str) -> Vec<String> {
    const EXAMPLE: &str = "(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    if prefix.is_empty() {
        return vec!["prefix part must be non-empty".to_owned()];
    }
    let shown = |problem| match problem {
        SubdomainProblem::TooLong => format!("prefix part {problem}"),
        SubdomainProblem::Characters => format!("prefix part {problem} {EXAMPLE}"),
    };
    subdomain_problems(prefix).into_iter().map(shown).collect()
}

/// Returns whether a string is non-empty, and its first and last byte, and all bytes, are of the given kinds.
fn is_delimited(text: &str, is_end: impl Fn(u8) -> bool, is_inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| is_end(*byte))
        && bytes.last().is_some_and(|byte| is_end(*byte))
        && bytes.iter().all(|byte| is_inner(*byte))
}

fn is_label_value(value: &str) -> bool {
    value.is_empty()
        || value.len() <= LABEL_VALUE_BYTES_MAX
            && is_delimited(value, |byte| byte.is_ascii_alphanumeric(), is_name_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

#[cfg(test)]
mod tests;
