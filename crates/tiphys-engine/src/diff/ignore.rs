//! `spec.ignoreDifferences`: fields of live objects that are not compared.

use serde_json::{Map, Value};
use tiphys_api::IgnoreDifference;
use tiphys_glob::{Glob, GlobError, Slash};

use crate::ObjectKey;

/// The ignored fields of an application's objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    group: Glob,
    kind: Glob,
    name: String,
    namespace: String,
    pointers: Vec<Vec<String>>,
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
    #[error("not supported, only jsonPointers are; compare a copy of the Application that uses those")]
    Unsupported,
    /// The value is not a JSON pointer.
    #[error("{0:?} is not a JSON pointer; it must begin with `/`")]
    Pointer(String),
    /// The value is not a glob pattern.
    #[error(transparent)]
    Glob(#[from] GlobError),
}

impl Ignored {
    /// Parses the entries of an Application. Any entry with `jqPathExpressions` or `managedFieldsManagers` is rejected, even if it matches
    /// no object, because the result must not depend on which objects are live.
    pub fn new(entries: &[IgnoreDifference]) -> Result<Self, IgnoreError> {
        let rule = |(index, entry): (usize, &IgnoreDifference)| {
            let failed = |field, problem| IgnoreError { index, field, problem };
            if !entry.jq_path_expressions.is_empty() {
                return Err(failed("jqPathExpressions", IgnoreProblem::Unsupported));
            }
            if !entry.managed_fields_managers.is_empty() {
                return Err(failed("managedFieldsManagers", IgnoreProblem::Unsupported));
            }
            let glob = |field, text: &str| {
                Glob::new(text, Slash::Ordinary).map_err(|error| failed(field, error.into()))
            };
            let pointers = entry.json_pointers.iter().map(|text| pointer(text)).collect::<Result<_, _>>();
            Ok(Rule {
                group: glob("group", &entry.group)?,
                kind: glob("kind", &entry.kind)?,
                name: entry.name.clone(),
                namespace: entry.namespace.clone(),
                pointers: pointers.map_err(|problem| failed("jsonPointers", problem))?,
            })
        };
        Ok(Self { rules: entries.iter().enumerate().map(rule).collect::<Result<_, _>>()? })
    }

    /// Returns the pointers that apply to an object.
    pub(super) fn pointers<'a>(&'a self, key: &'a ObjectKey) -> impl Iterator<Item = &'a [String]> {
        self.rules.iter().filter(|rule| rule.is_for(key)).flat_map(|rule| &rule.pointers).map(Vec::as_slice)
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

/// Parses a JSON pointer (RFC 6901) into keys. As in Argo CD, `*` is an ordinary key.
fn pointer(text: &str) -> Result<Vec<String>, IgnoreProblem> {
    let Some(rest) = text.strip_prefix('/') else { return Err(IgnoreProblem::Pointer(text.to_owned())) };
    Ok(rest.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect())
}

/// Removes the field at a pointer, if it exists. List items are addressed by index; a negative index counts from the end.
pub(super) fn remove(object: &mut Map<String, Value>, pointer: &[String]) {
    let Some((last, way)) = pointer.split_last() else { return };
    let Some((first, way)) = way.split_first() else {
        object.remove(last);
        return;
    };
    let parent = way.iter().try_fold(object.get_mut(first), |value, key| match value {
        Some(Value::Object(fields)) => Some(fields.get_mut(key)),
        Some(Value::Array(items)) => {
            let index = index(key, items.len())?;
            Some(items.get_mut(index))
        }
        _ => None,
    });
    match parent.flatten() {
        Some(Value::Object(fields)) => {
            fields.remove(last);
        }
        Some(Value::Array(items)) => {
            if let Some(index) = index(last, items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// Parses a key as the index into a list of this length.
fn index(key: &str, length: usize) -> Option<usize> {
    let index = match key.strip_prefix('-') {
        Some(back) => length.checked_sub(back.parse().ok()?)?,
        None => key.parse().ok()?,
    };
    (index < length).then_some(index)
}

#[cfg(test)]
mod tests;
