//! Splitting what a plugin printed into documents, as Kubernetes' decoder of YAML-or-JSON streams does.
//!
//! What is valid and fails there is accepted here; what is lost there without a word is refused here (`spec/cmp.md` 14, row 6.6).

mod chunks;

use crate::json::{OutOfRange, Parser};
use crate::reader::Documents;
use crate::text::{Decoded, decode, is_utf16};
use crate::{Error, LIMITS, Node, Position, json};

use chunks::Chunk;

/// One document of a plugin's output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputDocument {
    /// What the plugin server hands on: an object's own bytes if it was JSON, else compact JSON with sorted keys.
    pub text: String,
    /// The document as it was read, with positions that count from the beginning of the output.
    pub node: Node,
}

/// How far the decoder looks for the brace that makes a stream JSON, in bytes.
const JSON_LOOK_AHEAD_BYTES: usize = 4096;

/// Splits the standard output of a plugin's `generate`, all of it: the one final newline that Argo CD's command runner removes
/// (`spec/cmp.md` 6.5) is dropped here, which a final block text with kept newlines shows. The rest is [`split_documents`].
pub fn split_output(stdout: &[u8]) -> Result<Vec<OutputDocument>, Error> {
    // In UTF-16 the last byte is half a character.
    split_documents(if is_utf16(stdout) { stdout } else { stdout.strip_suffix(b"\n").unwrap_or(stdout) })
}

/// Splits a stream of manifests (`spec/cmp.md` 6.6 and 14). Empty and `null` documents are left out.
///
/// If the first character that is not white space is `{`, the output is a stream of JSON values, else it is YAML; a stream that
/// turns out not to be JSON goes on as YAML.
pub fn split_documents(stream: &[u8]) -> Result<Vec<OutputDocument>, Error> {
    let decoded = if is_utf16(stream) { decode(stream) } else { as_utf8(stream) };
    let text: &str = &decoded.text;
    if let Some(reason) = decoded.broken {
        return Err(Error::at(end_of(text), reason));
    }
    let mut documents = Vec::new();
    let looked_at = text.get(..text.floor_char_boundary(JSON_LOOK_AHEAD_BYTES)).unwrap_or_default();
    if looked_at.trim_start().starts_with('{') {
        read_json_stream(text, &mut documents)?;
    } else {
        read_yaml_stream(text, Position::START, &mut documents)?;
    }
    Ok(documents)
}

/// As [`decode`], but a byte-order mark is left to the documents: before `---` it hides the separator.
fn as_utf8(bytes: &[u8]) -> Decoded<'_> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: text.into(), broken: None },
        Err(_) => decode(bytes),
    }
}

fn read_json_stream(text: &str, documents: &mut Vec<OutputDocument>) -> Result<(), Error> {
    let mut parser = Parser::new(text.as_bytes(), Position::START, LIMITS, OutOfRange::Text);
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
                // More than one value make it a JSON stream for good, unless a separator says otherwise.
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

/// Whether JSON was meant by a text that is neither JSON nor YAML: an object whose keys have quotes.
fn looks_like_json(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|inside| inside.trim_start().starts_with(['"', '}']))
}

/// The caller reads a manifest again as YAML, so a text in which YAML sees other line breaks counts as YAML sees it.
fn json_document(raw: &str, node: Node, position: Position) -> OutputDocument {
    let node = if json::yaml_reads_otherwise(raw) {
        let decoded = Decoded { text: raw.into(), broken: None };
        match Documents::new(&decoded, position, LIMITS).next_document() {
            Ok(Some(node)) => node,
            Ok(None) | Err(_) => node,
        }
    } else {
        node
    };
    OutputDocument { text: raw.to_owned(), node }
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
                let mut text = node.to_json();
                if reader.has_replaced_bytes() {
                    // Go escapes the character where it stands for a byte, and only there.
                    text = text.replace(char::REPLACEMENT_CHARACTER, "\\ufffd");
                }
                return Ok(Some(OutputDocument { text, node }));
            }
            Ok(Some(position)) => Err(not_the_end(position)),
            Err(error) => Err(not_the_end(error.position.unwrap_or(node.position))),
        },
        Err(error) => Err(error),
    };
    // JSON that is no YAML 1.1: surrogate escapes, keys of any length.
    read.or_else(|error| {
        let node = json_of(chunk).ok_or(error)?;
        Ok(Some(OutputDocument { text: node.to_json(), node }))
    })
}

/// Kubernetes reads the first document only, and forgets what else there is.
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
    let mut parser = Parser::new(text.as_bytes(), position, LIMITS, OutOfRange::Text);
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
