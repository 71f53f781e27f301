//! Texts with values, and what is wrong with one in the words of Argo CD and helm.

use tiphys_helm_values::{HelmVersion, Map, ValuesFileError, read_values};
use tiphys_yaml::Error as YamlError;

use super::loaded_chart::problem;

/// Why a text has no values.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValuesTextError {
    /// It is not YAML.
    #[error("error converting YAML to JSON: {}", of_yaml(.0))]
    Yaml(YamlError),
    /// It is something else than an object.
    #[error(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type \
         map[string]interface {{}}"
    )]
    NoObject {
        /// What it is, as Go names it.
        kind: &'static str,
    },
    /// A line that divides documents.
    #[error(transparent)]
    Separator(ValuesFileError),
}

/// The values of a text, as helm reads them.
pub(super) fn read(text: &[u8], version: HelmVersion) -> Result<Map, ValuesTextError> {
    read_values(text, version).map_err(|error| match error {
        ValuesFileError::Yaml { source, .. } => ValuesTextError::Yaml(source),
        ValuesFileError::NoObject { found, .. } => ValuesTextError::NoObject { kind: go_kind(found) },
        error @ ValuesFileError::Separator { .. } => ValuesTextError::Separator(error),
    })
}

impl ValuesTextError {
    /// Whether helm may read the text all the same.
    pub(super) fn is_past_bound(&self) -> bool {
        matches!(self, Self::Yaml(error) if error.is_too_deep())
    }
}

fn of_yaml(error: &YamlError) -> String {
    let bound =
        if error.is_too_deep() { ", and no deeper values are announced; helm may read them" } else { "" };
    format!("yaml: {}{bound}", problem(error))
}

/// What Go calls a value that has this name in words.
fn go_kind(words: &str) -> &'static str {
    match words {
        "a list" => "array",
        "a number" => "number",
        "a boolean" => "bool",
        _ => "string",
    }
}
