//! Any bytes are read as JSON or refused; what is read is written as JSON that is read as the same.

use tiphys_yaml::{read_json, write_go_json};

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(node) = read_json(bytes) {
        let value = node.to_value();
        for text in [node.to_json(), write_go_json(&value)] {
            let again = read_json(text.as_bytes()).expect("what is written can be read");
            assert_eq!(again.to_value(), value, "{text}");
        }
    }
}
