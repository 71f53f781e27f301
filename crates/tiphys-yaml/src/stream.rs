//! Splitting the output of a plugin into documents, like Kubernetes' `YAMLOrJSONDecoder`.
//!
//! Valid input that it rejects is accepted, and input that it drops silently is rejected (see `docs/differences.md`).

mod chunks;

use crate::json::{Numbers, Parser};
use crate::reader::Documents;
use crate::text::{Decoded, decode, is_utf16};
use crate::{Error, LIMITS, Node, Position, json};

use chunks::Chunk;

/// A document of a plugin's output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputDocument {
    /// The parsed document, with positions from the beginning of the output.
    pub node: Node,
    source: Source,
}

/// The origin of a document, which decides its text.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    Yaml {
        has_replaced_bytes: bool,
    },
    /// The original text.
    Json(String),
}

impl OutputDocument {
    /// Returns the text that the plugin server returns: the original bytes of a JSON object, else compact JSON with sorted keys.
    pub fn text(&self) -> String {
        match &self.source {
            Source::Json(text) => text.clone(),
            // Go escapes the character only where it replaces a byte.
            Source::Yaml { has_replaced_bytes: true } => {
                self.node.to_json().replace(char::REPLACEMENT_CHARACTER, "\\ufffd")
            }
            Source::Yaml { has_replaced_bytes: false } => self.node.to_json(),
        }
    }
}

/// The number of bytes in which the decoder looks for the `{` of a JSON stream.
const JSON_LOOK_AHEAD_BYTES: usize = 4096;

/// Splits the complete standard output of a plugin's `generate`. Argo CD's command runner removes one final newline, so it is removed here
/// too; this is visible in a final block scalar that keeps newlines. The rest is done by [`split_documents`].
pub fn split_output(stdout: &[u8]) -> Result<Vec<OutputDocument>, Error> {
    // In UTF-16 the last byte is half a character.
    split_documents(if is_utf16(stdout) { stdout } else { stdout.strip_suffix(b"\n").unwrap_or(stdout) })
}

/// Splits a stream of manifests. Empty and `null` documents are left out.
///
/// If the first character except white space is `{`, the output is a stream of JSON values, else it is YAML. If an error occurs in a stream
/// of JSON values, the rest is parsed as YAML.
pub fn split_documents(stream: &[u8]) -> Result<Vec<OutputDocument>, Error> {
    let mut documents = Vec::new();
    split_documents_into(stream, &mut documents)?;
    Ok(documents)
}

/// Like [`split_documents`], but also returns the documents before an error.
pub fn split_documents_into(stream: &[u8], documents: &mut Vec<OutputDocument>) -> Result<(), Error> {
    let decoded = if is_utf16(stream) { decode(stream) } else { as_utf8(stream) };
    let text: &str = &decoded.text;
    if let Some(reason) = decoded.broken {
        return Err(Error::at(end_of(text), reason));
    }
    let beginning = text.get(..text.floor_char_boundary(JSON_LOOK_AHEAD_BYTES)).unwrap_or_default();
    if beginning.trim_start().starts_with('{') {
        read_json_stream(text, documents)
    } else {
        read_yaml_stream(text, Position::START, documents)
    }
}

/// Decodes like [`decode`], but keeps a byte-order mark for the document, because before `---` it hides the separator.
fn as_utf8(bytes: &[u8]) -> Decoded<'_> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: text.into(), broken: None },
        Err(_) => decode(bytes),
    }
}

fn read_json_stream(text: &str, documents: &mut Vec<OutputDocument>) -> Result<(), Error> {
    let mut parser = Parser::new(text.as_bytes(), Position::START, LIMITS, Numbers::Yaml);
    let mut values = 0_usize;
    while parser.skip_blanks() {
        let start = parser.offset();
        let position = parser.position();
        match parser.value() {
            Ok(node) => {
                values += 1;
                let raw = text.get(start..parser.offset()).unwrap_or_default();
                if !node.is_null() {
                    documents.push(json_document(raw, node, position));
                }
            }
            Err(json_error) => {
                let rest = text.get(start..).unwrap_or_default();
                // After more than one value the stream must be JSON, unless a separator follows.
                if values > 1 && !rest.starts_with("---") {
                    return Err(json_error);
                }
                let whole_documents = documents.len();
                return read_yaml_stream(rest, position, documents).map_err(|yaml_error| {
                    if documents.len() == whole_documents && looks_like_json(rest) {
                        json_error
                    } else {
                        yaml_error
                    }
                });
            }
        }
    }
    Ok(())
}

/// Returns whether invalid input was probably meant as JSON: an object with quoted keys.
fn looks_like_json(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|inside| inside.trim_start().starts_with(['"', '}']))
}

/// Returns a JSON document. If YAML has other line breaks in it, the node is parsed as YAML, because callers parse the text as YAML.
fn json_document(raw: &str, node: Node, position: Position) -> OutputDocument {
    let node = if json::has_yaml_line_breaks(raw) {
        let decoded = Decoded { text: raw.into(), broken: None };
        match Documents::new(&decoded, position, LIMITS).next_document() {
            Ok(Some(node)) => node,
            Ok(None) | Err(_) => node,
        }
    } else {
        node
    };
    OutputDocument { node, source: Source::Json(raw.to_owned()) }
}

fn read_yaml_stream(text: &str, origin: Position, documents: &mut Vec<OutputDocument>) -> Result<(), Error> {
    for chunk in chunks::split(text, origin) {
        documents.extend(read_chunk(&chunk)?.filter(|document| !document.node.is_null()));
    }
    Ok(())
}

fn read_chunk(chunk: &Chunk<'_>) -> Result<Option<OutputDocument>, Error> {
    if let Some(position) = chunk.glued_separator {
        return Err(Error::at(position, "`---` must be followed by a blank or a line break"));
    }
    let decoded = decode(chunk.text.as_bytes());
    let mut reader = Documents::new(&decoded, chunk.position, LIMITS);
    let read = match reader.next_document() {
        Ok(None) => return Ok(None),
        Ok(Some(node)) => match reader.next_start() {
            Ok(None) => {
                let source = Source::Yaml { has_replaced_bytes: reader.has_replaced_bytes() };
                return Ok(Some(OutputDocument { node, source }));
            }
            Ok(Some(position)) => Err(not_the_end(position)),
            Err(error) => Err(not_the_end(error.position.unwrap_or(node.position))),
        },
        Err(error) => Err(error),
    };
    // JSON that is not valid YAML 1.1: surrogate escapes, keys of any length.
    read.or_else(|error| {
        let node = json_of(chunk).ok_or(error)?;
        Ok(Some(OutputDocument { node, source: Source::Yaml { has_replaced_bytes: false } }))
    })
}

/// Returns the error for content after a document. Kubernetes parses the first document only and ignores the rest.
fn not_the_end(position: Position) -> Error {
    Error::at(
        position,
        "the document above should end here; check the indentation, or separate documents by a line of `---`",
    )
}

fn json_of(chunk: &Chunk<'_>) -> Option<Node> {
    let (text, position) = chunk.content();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut parser = Parser::new(text.as_bytes(), position, LIMITS, Numbers::Yaml);
    let node = parser.value().ok()?;
    parser.end().ok()?;
    Some(node)
}

fn end_of(text: &str) -> Position {
    let lines = text.matches('\n').count();
    let columns = text.rsplit('\n').next().unwrap_or_default().chars().count();
    Position::START.offset(lines, columns)
}

#[cfg(test)]
mod tests;
