//! YAML as Kubernetes reads it, with positions, edits that preserve all other bytes, and JSON as Go writes it.
//!
//! No other crate of the workspace parses YAML, or writes JSON or YAML that is compared byte for byte.

mod decode;
mod edit;
mod error;
mod float;
mod json;
mod json_pointer;
mod node;
mod reader;
mod scalar;
mod stream;
mod text;
mod writer;

pub use decode::{DecodeError, Object, names_equal};
pub use edit::{Change, EditError, NewValue, Step, Target, edit};
pub use error::{Error, ErrorKind};
pub use float::Float;
pub use json::{read_json, read_json_as_any, write_go_json, write_go_string};
pub use json_pointer::JsonPointer;
pub use node::{Data, Entry, Key, Node, Position};
pub use reader::{
    LIMITS, Limits, read_document, read_document_and_rest, read_document_of_texts, read_document_within,
    read_documents, read_documents_of_texts, read_documents_within,
};
pub use stream::{OutputDocument, split_documents, split_documents_into, split_output};
pub use text::file_text;
pub use writer::write_yaml;
