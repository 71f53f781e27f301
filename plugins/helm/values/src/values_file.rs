//! Reads values files: merges their documents, each parsed as Kubernetes reads YAML.

#[cfg(test)]
mod tests;

use tiphys_yaml::read_document;

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

/// Reads a values file. Helm 3 reads the first document. Helm 4 merges all, later ones over earlier ones; any line that starts with `---`
/// separates them, even inside a scalar, as in Helm. Empty and `null` documents have no values.
pub fn read_values(text: &[u8], version: HelmVersion) -> Result<Map, ValuesFileError> {
    let documents = match version {
        HelmVersion::V3 => vec![text],
        HelmVersion::V4 => documents(text)?,
    };
    let mut values = Map::new();
    for (index, bytes) in documents.into_iter().enumerate() {
        let document = index + 1;
        let unreadable = |source| ValuesFileError::Yaml { document, source };
        let Some(node) = read_document(bytes).map_err(unreadable)? else { continue };
        match Value::from_node(&node).map_err(unreadable)? {
            Value::Map(map) => merge_over(&mut values, map),
            _ => return Err(ValuesFileError::NoObject { document, found: node.type_words() }),
        }
    }
    Ok(values)
}

const SEPARATOR: &[u8] = b"---";

/// Splits a file into documents. A separator at the start of a document belongs to it.
fn documents(text: &[u8]) -> Result<Vec<&[u8]>, ValuesFileError> {
    let mut documents = Vec::new();
    let (mut start, mut at) = (0, 0);
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let end = at + line.len();
        if let Some(behind) = line.strip_prefix(SEPARATOR) {
            let behind = behind.trim_ascii();
            if !behind.is_empty() && !behind.starts_with(b"#") {
                let text = String::from_utf8_lossy(behind).into_owned();
                return Err(ValuesFileError::Separator { line: index + 1, text });
            }
            if start < at {
                documents.push(text.get(start..at).unwrap_or_default());
                start = end;
            }
        }
        at = end;
    }
    if start < at {
        documents.push(text.get(start..at).unwrap_or_default());
    }
    Ok(documents)
}
