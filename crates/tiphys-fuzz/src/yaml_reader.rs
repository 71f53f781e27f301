//! Any bytes are read as YAML or refused; what is read survives being written and read again.

use tiphys_yaml::{read_document, read_documents, write_yaml};

pub(crate) fn body(bytes: &[u8]) {
    let first = read_document(bytes);
    if let Ok(nodes) = read_documents(bytes) {
        let first = first.as_ref().expect("all documents can be read, so the first can");
        assert_eq!(first.is_none(), nodes.is_empty() || nodes.first() != first.as_ref());
    }
    if let Ok(Some(node)) = first {
        let value = node.to_value();
        let again = read_document(write_yaml(&value).as_bytes()).expect("what is written can be read");
        assert_eq!(again.map(|node| node.to_value()), Some(value));
    }
}
