//! `spec.ignoreDifferences`: fields of live objects that are not compared.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use tiphys_go::glob::{Glob, GlobError, Slash};
use tiphys_model::params::Warning;
use tiphys_model::resources::IgnoreDifference;
use tiphys_yaml::JsonPointer;

use crate::ObjectKey;

/// Removes from an object what a jq path expression selects. An object that the expression does not fit stays as it is. The error is an exceeded
/// limit, with the remedy; the object stays as it is then, too.
pub type JqRemoval = Arc<dyn Fn(&mut Value) -> Result<(), String> + Send + Sync>;

/// The ignored fields of an application's objects.
#[derive(Clone, Default)]
pub struct Ignored {
    rules: Vec<Rule>,
}

#[derive(Clone)]
struct Rule {
    group: Glob,
    kind: Glob,
    name: String,
    namespace: String,
    pointers: Vec<JsonPointer>,
    /// The expressions with their sources.
    expressions: Vec<(String, JqRemoval)>,
}

/// An invalid or unsupported entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("spec.ignoreDifferences[{index}].{field}: {problem}")]
pub struct IgnoreError {
    /// The index of the entry, from 0.
    pub index: usize,
    /// The field of the entry.
    pub field: &'static str,
    /// The problem.
    pub problem: IgnoreProblem,
}

/// A problem of an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IgnoreProblem {
    /// Supported by Argo CD only. Skipping the entry silently would report differences that Argo CD ignores.
    #[error("not supported; compare a copy of the Application that uses jsonPointers or jqPathExpressions")]
    Unsupported,
    /// The value is not a jq path expression.
    #[error("{expression:?} is not a jq path expression: {reason}")]
    Jq {
        /// The value.
        expression: String,
        /// The reason.
        reason: String,
    },
    /// The value is not a JSON pointer.
    #[error("{0:?} is not a JSON pointer; it must begin with `/`")]
    Pointer(String),
    /// The value is not a glob pattern.
    #[error(transparent)]
    Glob(#[from] GlobError),
}

impl Ignored {
    /// Parses the entries of an Application. `jq` compiles an expression; its error is the reason. Any entry with `managedFieldsManagers` is
    /// rejected, even if it matches no object, because the result must not depend on which objects are live.
    pub fn new(
        entries: &[IgnoreDifference],
        jq: &dyn Fn(&str) -> Result<JqRemoval, String>,
    ) -> Result<Self, IgnoreError> {
        let rule = |(index, entry): (usize, &IgnoreDifference)| {
            let failed = |field, problem| IgnoreError { index, field, problem };
            if !entry.managed_fields_managers.is_empty() {
                return Err(failed("managedFieldsManagers", IgnoreProblem::Unsupported));
            }
            let glob = |field, text: &str| {
                Glob::new(text, Slash::Ordinary).map_err(|error| failed(field, error.into()))
            };
            let pointer = |text: &String| {
                let invalid = || failed("jsonPointers", IgnoreProblem::Pointer(text.clone()));
                JsonPointer::parse(text).ok_or_else(invalid)
            };
            let expression = |text: &String| {
                let invalid = |reason| IgnoreProblem::Jq { expression: text.clone(), reason };
                let removal = jq(text).map_err(|reason| failed("jqPathExpressions", invalid(reason)))?;
                Ok((text.clone(), removal))
            };
            Ok(Rule {
                group: glob("group", &entry.group)?,
                kind: glob("kind", &entry.kind)?,
                name: entry.name.clone(),
                namespace: entry.namespace.clone(),
                pointers: entry.json_pointers.iter().map(pointer).collect::<Result<_, _>>()?,
                expressions: entry.jq_path_expressions.iter().map(expression).collect::<Result<_, _>>()?,
            })
        };
        Ok(Self { rules: entries.iter().enumerate().map(rule).collect::<Result<_, _>>()? })
    }

    /// Adds what is ignored in all applications.
    pub fn extend(&mut self, other: &Self) {
        self.rules.extend_from_slice(&other.rules);
    }

    /// Removes the ignored fields of an object. `key` is that of the compared object. Adds a warning for each expression that exceeds a limit
    /// for the first time; Argo CD also compares what it would remove.
    pub(super) fn remove_from(
        &self,
        key: &ObjectKey,
        object: &mut Map<String, Value>,
        warnings: &mut Vec<Warning>,
    ) {
        let mut rules = self.rules.iter().filter(|rule| rule.is_for(key)).peekable();
        if rules.peek().is_none() {
            return;
        }
        let mut value = Value::Object(std::mem::take(object));
        for rule in rules {
            rule.pointers.iter().for_each(|pointer| pointer.remove_from(&mut value));
            for (expression, removal) in &rule.expressions {
                let Err(reason) = removal(&mut value) else { continue };
                let what =
                    format!("jqPathExpressions of ignoreDifferences: {expression:?} is not applied to ");
                if !warnings.iter().any(|warning| warning.message.starts_with(&what)) {
                    let message = format!("{what}{key}, and perhaps to others: {reason}");
                    warnings.push(Warning { message, position: None });
                }
            }
        }
        // `.` selects the whole object.
        if let Value::Object(left) = value {
            *object = left;
        }
    }
}

impl fmt::Debug for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ignored").field("rules", &self.rules.len()).finish()
    }
}

impl Rule {
    /// As in Argo CD, group and kind are patterns. Name and namespace match exactly if they are set.
    fn is_for(&self, key: &ObjectKey) -> bool {
        let is = |wanted: &str, own: &str| wanted.is_empty() || wanted == own;
        self.group.matches(&key.group)
            && self.kind.matches(&key.kind)
            && is(&self.name, &key.name)
            && is(&self.namespace, &key.namespace)
    }
}

#[cfg(test)]
mod tests;
