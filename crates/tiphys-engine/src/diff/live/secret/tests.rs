use serde_json::{Value, json};

use super::normalize;

#[test]
fn secret_is_normalized() {
    let cases = [
        (json!({"stringData": {"k": "a"}}), json!({"data": {"k": "YQ=="}})),
        (
            json!({"stringData": {"k": "a"}, "data": {"k": "Yg==", "l": "Yg=="}}),
            json!({"data": {"k": "YQ==", "l": "Yg=="}}),
        ),
        (json!({"stringData": {"k": "a"}, "data": null}), json!({"data": {"k": "YQ=="}})),
        (json!({"data": {"k": "YWFh\r\nYWFh\n"}}), json!({"data": {"k": "YWFhYWFh"}})),
        (json!({"stringData": {}}), json!({})),
        // The server would reject these.
        (json!({"data": {"k": "?", "l": 1}}), json!({"data": {"k": "?", "l": 1}})),
        (json!({"stringData": {"k": 1}}), json!({"stringData": {"k": 1}})),
        (json!({"stringData": {"k": "a"}, "data": "x"}), json!({"stringData": {"k": "a"}, "data": "x"})),
        (json!({"stringData": "x"}), json!({"stringData": "x"})),
    ];
    for (secret, expected) in cases {
        let Value::Object(mut object) = secret.clone() else { panic!("{secret}") };
        normalize(&mut object);
        assert_eq!(Value::Object(object), expected, "{secret}");
    }
}
