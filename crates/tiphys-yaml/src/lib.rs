//! YAML as Kubernetes reads it, with positions, and JSON as Go writes it.
//!
//! This is the one place in the workspace that parses YAML or writes JSON and YAML that others compare byte for byte.

mod decode;
mod error;
mod json;
mod node;
mod reader;
mod stream;
mod writer;

pub use decode::{DecodeError, Object, names_equal};
pub use error::Error;
pub use json::{read_json, write_go_json, write_go_string};
pub use node::{Data, Entry, Key, Node, Position};
pub use reader::{Limits, read_document, read_documents};
pub use stream::{OutputDocument, split_output};
pub use writer::write_yaml;
