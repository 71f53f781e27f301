//! Any output is split or refused; each document that the server hands on is one document for the client.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tiphys_yaml::{read_document, split_output};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(documents) = split_output(bytes) {
        for document in documents {
            let again = read_document(document.text.as_bytes()).expect("what is handed on can be read");
            assert_eq!(
                again.map(|node| node.to_value()),
                Some(document.node.to_value()),
                "{}",
                document.text
            );
        }
    }
});
