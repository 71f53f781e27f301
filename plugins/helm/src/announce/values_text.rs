//! Parses documents with values, with the error messages of Argo CD and helm.

use tiphys_helm_values::{HelmVersion, Map, ValuesFileError, read_values};
use tiphys_yaml::Error as YamlError;

/// Errors of a document with values.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValuesTextError {
    #[error("error converting YAML to JSON: {}", of_yaml(.0))]
    Yaml(YamlError),
    /// The top level must be an object.
    #[error(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type \
         map[string]interface {{}}"
    )]
    NoObject {
        /// Its type, as Go names it.
        kind: &'static str,
    },
    /// The document has an invalid separator.
    #[error(transparent)]
    Separator(ValuesFileError),
}

/// Parses a text as helm does.
pub(super) fn read(text: &[u8], version: HelmVersion) -> Result<Map, ValuesTextError> {
    Ok(read_values(text, version)?)
}

impl From<ValuesFileError> for ValuesTextError {
    fn from(error: ValuesFileError) -> Self {
        match error {
            ValuesFileError::Yaml { source, .. } => Self::Yaml(source),
            ValuesFileError::NoObject { found, .. } => Self::NoObject { kind: go_kind(found) },
            error @ ValuesFileError::Separator { .. } => Self::Separator(error),
        }
    }
}

impl ValuesTextError {
    /// Whether a limit is the cause. Helm may still parse the document.
    pub(super) fn exceeds_limit(&self) -> bool {
        matches!(self, Self::Yaml(error) if error.is_too_deep())
    }
}

fn of_yaml(error: &YamlError) -> String {
    let line = error.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
    let bound =
        if error.is_too_deep() { ", and no deeper values are announced; helm may read them" } else { "" };
    format!("yaml: {line}{}{bound}", error.message)
}

/// Translates a type name to Go's.
fn go_kind(words: &str) -> &'static str {
    match words {
        "a list" => "array",
        "a number" => "number",
        "a boolean" => "bool",
        _ => "string",
    }
}
