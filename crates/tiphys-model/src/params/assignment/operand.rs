//! Parsing of parameter values. All of them are strings or consist of strings.

use std::collections::BTreeMap;

use tiphys_yaml::{Data, Node, read_document_of_texts, read_documents_of_texts};

use super::Form;
use crate::params::{Default, Shape};

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterValue {
    /// A string.
    String(String),
    /// A list of strings.
    Array(Vec<String>),
    /// A map from strings to strings.
    Map(BTreeMap<String, String>),
}

impl From<Default<'_>> for ParameterValue {
    fn from(default: Default<'_>) -> Self {
        match default {
            Default::String(text) => Self::String(text.to_owned()),
            Default::Array(items) => Self::Array(items.to_vec()),
            Default::Map(map) => Self::Map(map.clone()),
        }
    }
}

/// An invalid parameter value. The value is not included: it may be long, or secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperandError {
    /// Not JSON.
    #[error("the value is not valid JSON ({reason}); write a string as NAME=VALUE")]
    NotJson {
        /// The parser's message.
        reason: String,
    },
    /// Not YAML.
    #[error("not YAML: {0}")]
    NotYaml(tiphys_yaml::Error),
    /// The value is not UTF-8.
    #[error("the value is not UTF-8 text")]
    NotText,
    /// `null` is not a value.
    #[error("{0} is null; remove a value with `params unset`")]
    Null(String),
    /// A list or map contains something other than strings.
    #[error("{place} is {found}; list and map items of a parameter must be strings")]
    Nested {
        /// The location of the item.
        place: String,
        /// The type found, with an article.
        found: &'static str,
    },
    /// A duplicate key.
    #[error("{0} is given twice")]
    Twice(String),
    /// More than one YAML document.
    #[error("found {0} documents, expected one")]
    Documents(usize),
    /// A values file with neither of the two formats.
    #[error(
        "expected parameters by name, or a list of entries with `name` and `string`, `array` or `map`; found {0}"
    )]
    NoValues(&'static str),
    /// An invalid entry in a list of parameters.
    #[error("entry {place}: {problem}")]
    Entry {
        /// Number of the entry, from 1.
        place: usize,
        /// The reason.
        problem: String,
    },
}

/// Parses a value: literally with [`Form::Text`], as JSON with [`Form::Json`].
pub fn read_operand(form: Form, bytes: &[u8]) -> Result<ParameterValue, OperandError> {
    let text = std::str::from_utf8(bytes).map_err(|_| OperandError::NotText)?;
    match form {
        Form::Text => Ok(ParameterValue::String(text.to_owned())),
        Form::Json => {
            // `read_document_of_texts` accepts YAML, so check that it is JSON.
            serde_json::from_str::<serde::de::IgnoredAny>(text)
                .map_err(|error| OperandError::NotJson { reason: error.to_string() })?;
            let node = read_document_of_texts(bytes).map_err(OperandError::NotYaml)?;
            match node {
                Some(node) => value_of(&node, "the value"),
                None => Err(OperandError::Null("the value".to_owned())),
            }
        }
    }
}

/// Parses a values file, YAML or JSON: parameters by name (`replicas: 5`), or a list of entries as in an Application (`- name: replicas`).
/// Unquoted scalars are strings as written: `0123` and `yes` stay as they are.
pub fn read_values(bytes: &[u8]) -> Result<Vec<(String, ParameterValue)>, OperandError> {
    let documents = read_documents_of_texts(bytes).map_err(OperandError::NotYaml)?;
    let node = match &documents[..] {
        [] => return Ok(Vec::new()),
        [node] => node,
        several => return Err(OperandError::Documents(several.len())),
    };
    if let Some((path, _)) = node.repeated_keys().first() {
        return Err(OperandError::Twice(format!("`{path}`")));
    }
    match &node.data {
        Data::Mapping(entries) => entries
            .iter()
            .map(|entry| {
                Ok((entry.key.text.clone(), value_of(&entry.value, &format!("`{}`", entry.key.text))?))
            })
            .collect(),
        Data::Sequence(items) => items.iter().zip(1..).map(|(item, place)| entry(item, place)).collect(),
        _ => Err(OperandError::NoValues(node.type_words())),
    }
}

fn entry(node: &Node, place: usize) -> Result<(String, ParameterValue), OperandError> {
    let problem = |problem: &str| OperandError::Entry { place, problem: problem.to_owned() };
    let name = node.get("name").and_then(Node::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| problem("has no `name`"))?;
    let mut values =
        ["string", "array", "map"].into_iter().filter_map(|field| Some((field, node.get(field)?)));
    let (Some((field, value)), None) = (values.next(), values.next()) else {
        return Err(problem("needs exactly one of `string`, `array` and `map`"));
    };
    let value = value_of(value, &format!("`{field}` of `{name}`"))?;
    if Shape::of_value(&value).field() == field {
        Ok((name.to_owned(), value))
    } else {
        Err(problem(&format!("`{field}` holds something else")))
    }
}

fn value_of(node: &Node, place: &str) -> Result<ParameterValue, OperandError> {
    let text = |node: &Node, place: String| match &node.data {
        Data::String(text) => Ok(text.clone()),
        Data::Null => Err(OperandError::Null(place)),
        _ => Err(OperandError::Nested { place, found: node.type_words() }),
    };
    if let Some((path, _)) = node.repeated_keys().first() {
        return Err(OperandError::Twice(format!("the key `{path}` of {place}")));
    }
    match &node.data {
        Data::Sequence(items) => {
            let items =
                items.iter().zip(1..).map(|(item, number)| text(item, format!("item {number} of {place}")));
            Ok(ParameterValue::Array(items.collect::<Result<_, _>>()?))
        }
        Data::Mapping(entries) => {
            let entries = entries.iter().map(|entry| {
                let key = entry.key.text.clone();
                let value = text(&entry.value, format!("the key `{key}` of {place}"))?;
                Ok((key, value))
            });
            Ok(ParameterValue::Map(entries.collect::<Result<_, _>>()?))
        }
        _ => Ok(ParameterValue::String(text(node, place.to_owned())?)),
    }
}
