//! Invariants of answers from any service.

use serde_json::{Value, json};
use tiphys_go::json::first_value;
use tiphys_yaml::read_json;

use super::decode;
use crate::plugin::contract::Contract;

/// Decodes an answer. Bytes that are JSON are their own first value; a first value ends where JSON ends; and decoded parameter sets can be
/// written and decoded again.
pub fn fuzz_plugin_answer(bytes: &[u8]) {
    let first = first_value(bytes);
    if read_json(bytes).is_ok() {
        assert_eq!(first, Ok(Some(bytes.trim_ascii())));
    }
    if let Ok(Some(value)) = first {
        // Numbers out of range and deep nesting are limits, which a first value does not have.
        let error = read_json(value).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.is_empty() || error.contains("too large") || error.contains("nested"), "{error}");
        assert_eq!(first_value(value), Ok(Some(value)));
        if let [before @ .., b'}' | b']' | b'"'] = value {
            assert_eq!(first_value(before), Err("unexpected EOF".to_owned()));
        }
    }
    for contract in [Contract::Shipped, Contract::Proposal, Contract::BareList] {
        match (decode(contract, bytes), &first) {
            (Ok(sets), _) => {
                let list: Value = sets.iter().cloned().map(Value::from).collect();
                let answer = match contract {
                    Contract::Shipped => json!({"output": {"parameters": list}}),
                    Contract::Proposal | Contract::BareList => list,
                };
                assert_eq!(decode(contract, answer.to_string().as_bytes()), Ok(sets));
            }
            (Err(error), Err(syntax)) => assert_eq!(error.message, *syntax),
            (Err(_), Ok(_)) => {}
        }
    }
}
