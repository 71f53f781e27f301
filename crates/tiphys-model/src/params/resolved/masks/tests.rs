use serde_json::json;

use super::SecretMasks;
use crate::params::{Parameter, ResolvedParameter, ValueRedactor};

fn redactor(value: &str, is_from_secret: bool) -> ValueRedactor {
    let parameter =
        Parameter { name: "a".to_owned(), string: Some(value.to_owned()), ..Parameter::default() };
    ValueRedactor::new(&[ResolvedParameter::new(parameter, is_from_secret)])
}

#[test]
fn values_of_secrets_are_masked_on_both_sides() {
    let sides = [redactor("hunter2", true), redactor("hunter3", true), redactor("plain", false)];
    let masks = SecretMasks::of(&sides);
    let mut object = json!({
        "whole": "hunter2",
        "part": "user:hunter3@host",
        "base64": "aHVudGVyMg==",
        "list": ["hunter2", true, null],
        "hunter2": {"plain": "plain"},
    });
    masks.apply(&mut object);
    let expected = json!({
        "whole": "++++++++",
        "part": "user:+++++++++@host",
        "base64": "++++++++==",
        "list": ["++++++++", true, null],
        "++++++++": {"plain": "plain"},
    });
    assert_eq!(object, expected);
}

#[test]
fn short_values_are_masked_as_a_whole() {
    let masks = SecretMasks::of(&[redactor("7", true), redactor("54321", true)]);
    let mut object = json!({"a": "7", "b": 7, "c": "port 7", "d": 54321, "e": 17});
    masks.apply(&mut object);
    assert_eq!(object, json!({"a": "++++++++", "b": "++++++++", "c": "port 7", "d": "+++++++++", "e": 17}));
    assert!(SecretMasks::of(&[redactor("x", false), redactor("", true)]).is_empty());
}
