//! Reads values files: merges their documents, each parsed as Kubernetes reads YAML.

#[cfg(test)]
mod tests;

use tiphys_yaml::{Data, LIMITS, Limits, Node, Position, read_document_and_rest};

use crate::merge::merge_over;
use crate::{HelmVersion, Map, Value};

/// Errors of a values file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ValuesFileError {
    /// A document is not YAML.
    #[error("document {document} cannot be read")]
    Yaml {
        /// Number of the document, from 1.
        document: usize,
        /// The error, with its position in the document.
        source: tiphys_yaml::Error,
    },
    /// A document is not an object.
    #[error("document {document} is {found}, and values must be an object")]
    NoObject {
        /// Number of the document, from 1.
        document: usize,
        /// Its type, with an article.
        found: &'static str,
    },
    /// A `---` is followed by something other than a comment.
    #[error("the separator in line {line} is followed by {text:?}; put it on a line of its own")]
    Separator {
        /// The line, from 1.
        line: usize,
        /// The rest of the line.
        text: String,
    },
}

impl ValuesFileError {
    /// Returns the message that Helm prints.
    pub fn in_helm_words(&self) -> String {
        match self {
            Self::Yaml { source, .. } => {
                format!("error converting YAML to JSON: yaml: {}", source.in_go_words())
            }
            Self::NoObject { found, .. } => {
                let found = match *found {
                    "a list" => "array",
                    "a number" => "number",
                    "a boolean" => "bool",
                    _ => "string",
                };
                format!(
                    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type \
                     map[string]interface {{}}"
                )
            }
            Self::Separator { text, .. } => format!("invalid Yaml document separator: {text}"),
        }
    }

    /// Whether a limit of the YAML reader is the cause. Helm may read the file.
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::Yaml { source, .. } if source.is_limit())
    }
}

/// A document of a values file.
#[derive(Clone, Debug, PartialEq)]
pub struct ValuesDocument {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its values. Positions begin at the document.
    pub node: Node,
    /// The number of lines of the file before the document.
    pub lines_before: usize,
    /// The line of the file from which on Helm ignores its content, from 1: after `...`, and in Helm 3 after the first document.
    pub ignored_from: Option<usize>,
}

impl ValuesDocument {
    /// Merges its values over those of earlier documents. An empty or `null` document has none.
    pub fn merge_over(&self, values: &mut Map) -> Result<(), ValuesFileError> {
        let document = self.number;
        match Value::from_node(&self.node).map_err(|source| ValuesFileError::Yaml { document, source })? {
            Value::Null => {}
            Value::Map(map) => merge_over(values, map),
            _ => return Err(ValuesFileError::NoObject { document, found: self.node.type_words() }),
        }
        Ok(())
    }
}

/// Reads a values file and merges its documents, later ones over earlier ones.
pub fn read_values(text: &[u8], version: HelmVersion) -> Result<Map, ValuesFileError> {
    let mut values = Map::new();
    for document in read_values_documents(text, version, LIMITS)? {
        document?.merge_over(&mut values)?;
    }
    Ok(values)
}

/// Reads the documents of a values file, within these limits for each. Helm 3 reads the first document. Helm 4 reads all; any line that
/// starts with `---` separates them, even inside a scalar, as in Helm.
pub fn read_values_documents(
    text: &[u8],
    version: HelmVersion,
    limits: Limits,
) -> Result<impl Iterator<Item = Result<ValuesDocument, ValuesFileError>>, ValuesFileError> {
    let documents = match version {
        HelmVersion::V3 => vec![(0, text)],
        HelmVersion::V4 => documents(text)?,
    };
    Ok(documents.into_iter().zip(1..).map(move |((lines_before, bytes), number)| {
        let (node, rest) = read_document_and_rest(bytes, limits)
            .map_err(|source| ValuesFileError::Yaml { document: number, source })?;
        let node = node.unwrap_or(Node { position: Position::START, data: Data::Null });
        let ignored_from = rest.map(|position| lines_before + position.line);
        Ok(ValuesDocument { number, node, lines_before, ignored_from })
    }))
}

const SEPARATOR: &[u8] = b"---";

/// Splits a file into documents, each with the number of lines before it. A separator at the start of a document belongs to it.
fn documents(text: &[u8]) -> Result<Vec<(usize, &[u8])>, ValuesFileError> {
    let mut documents = Vec::new();
    let (mut start, mut lines_before, mut at) = (0, 0, 0);
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let end = at + line.len();
        if let Some(behind) = line.strip_prefix(SEPARATOR) {
            let behind = behind.trim_ascii();
            if !behind.is_empty() && !behind.starts_with(b"#") {
                let text = String::from_utf8_lossy(behind).into_owned();
                return Err(ValuesFileError::Separator { line: index + 1, text });
            }
            if start < at {
                documents.push((lines_before, text.get(start..at).unwrap_or_default()));
                (start, lines_before) = (end, index + 1);
            }
        }
        at = end;
    }
    if start < at {
        documents.push((lines_before, text.get(start..at).unwrap_or_default()));
    }
    Ok(documents)
}
