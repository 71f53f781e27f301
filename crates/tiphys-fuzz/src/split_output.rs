//! Any output is split or refused; each document that the server hands on is one document for the client.

use tiphys_yaml::{read_document, split_output};

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(documents) = split_output(bytes) {
        for document in documents {
            let again = read_document(document.text().as_bytes()).expect("what is handed on can be read");
            let again = again.map(|node| node.to_value());
            assert_eq!(again, Some(document.node.to_value()), "{}", document.text());
        }
    }
}
