//! `resource.customizations` of `argocd-cm`, as far as they ignore differences in all applications.

use std::collections::BTreeMap;

use tiphys_yaml::{Data, DecodeError, Node, Object, read_document};

use crate::resources::IgnoreDifference;

const SPLIT_KEY: &str = "resource.customizations.ignoreDifferences.";
const KEY: &str = "resource.customizations";

/// Fields that Argo CD ignores in the objects of all applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalIgnoreDifference {
    /// The key of `data`.
    pub key: String,
    /// The fields, with the patterns of group and kind. An error in the value, with the reason.
    pub entry: Result<IgnoreDifference, String>,
}

impl GlobalIgnoreDifference {
    /// Decodes the keys of `data`: `resource.customizations.ignoreDifferences.GROUP_KIND` replaces what `resource.customizations` has for
    /// the same group and kind. `all` stands for all kinds. The result is sorted by group and kind.
    pub(super) fn all(data: &BTreeMap<String, String>) -> Vec<Self> {
        let mut found = BTreeMap::new();
        let mut add = |pattern: &str, key: &str, value: Result<&str, String>| {
            let entry = value.and_then(|value| decode(pattern, value));
            found.insert(pattern.to_owned(), Self { key: key.to_owned(), entry });
        };
        if let Some(value) = data.get(KEY) {
            match customizations(value) {
                Ok(entries) => entries.iter().for_each(|(pattern, value)| add(pattern, KEY, Ok(value))),
                Err(error) if value.contains("ignoreDifferences") => add("", KEY, Err(error)),
                Err(_) => {}
            }
        }
        for (key, value) in data {
            match key.strip_prefix(SPLIT_KEY) {
                Some("all") => add("*/*", key, Ok(value)),
                Some(pattern) if !pattern.is_empty() && pattern.matches('_').count() < 2 => {
                    add(&pattern.replace('_', "/"), key, Ok(value));
                }
                Some(pattern) => add(pattern, key, Err("expected GROUP_KIND or KIND".to_owned())),
                None => {}
            }
        }
        found.into_values().filter(|found| found.entry != Ok(IgnoreDifference::default())).collect()
    }
}

/// Returns the strings `ignoreDifferences` of the old format by the pattern `GROUP/KIND`.
fn customizations(value: &str) -> Result<Vec<(String, String)>, String> {
    let Some(document) = document(value)? else { return Ok(Vec::new()) };
    let Data::Mapping(entries) = &document.data else {
        return Err(format!("expected an object, found {}", document.type_words()));
    };
    let mut found = Vec::new();
    for entry in entries {
        let pattern = &entry.key.text;
        let read = || {
            Object::new(&entry.value, pattern.as_str())?
                .text("ignoreDifferences")
                .map(|text| text.map(str::to_owned))
        };
        found.extend(read().map_err(|error| reason(&error))?.map(|value| (pattern.clone(), value)));
    }
    Ok(found)
}

/// Decodes the fields for a pattern `GROUP/KIND` or `KIND`; the default if there are none.
fn decode(pattern: &str, value: &str) -> Result<IgnoreDifference, String> {
    let Some(document) = document(value)? else { return Ok(IgnoreDifference::default()) };
    let (group, kind) = pattern.split_once('/').unwrap_or(("", pattern));
    let read = || {
        let mut object = Object::new(&document, "")?;
        Ok(IgnoreDifference {
            group: group.to_owned(),
            kind: kind.to_owned(),
            json_pointers: object.texts("jsonPointers")?.unwrap_or_default(),
            jq_path_expressions: object.texts("jqPathExpressions")?.unwrap_or_default(),
            managed_fields_managers: object.texts("managedFieldsManagers")?.unwrap_or_default(),
            ..IgnoreDifference::default()
        })
    };
    read().map_err(|error| reason(&error))
}

/// Returns a document; none if it is empty.
fn document(text: &str) -> Result<Option<Node>, String> {
    let document = read_document(text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(document.map(Node::deduplicated).filter(|document| !document.is_null()))
}

fn reason(error: &DecodeError) -> String {
    format!("{}: {}", error.path, error.message)
}

#[cfg(test)]
mod tests;
