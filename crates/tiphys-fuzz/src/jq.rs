//! Any expression is refused or ends. It only removes parts of an object, and always the same; after an error the object is as it was.

use serde_json::Value;
use tiphys_jq::{DEFAULT_TIME_LIMIT, PathExpression, RemoveError};
use tiphys_yaml::read_json;

/// The first line is an expression, the rest an object in JSON.
pub(crate) fn body(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some((expression, object)) = text.split_once('\n') else { return };
    let Ok(object) = read_json(object.as_bytes()) else { return };
    let object = object.to_value();
    let Ok(compiled) = PathExpression::new(expression, DEFAULT_TIME_LIMIT) else { return };
    let run = || {
        let mut left = object.clone();
        let result = compiled.remove_from(&mut left);
        (left, result)
    };
    let (left, result) = run();
    match result {
        Ok(()) => {
            assert!(is_part(&left, &object), "{expression}: {left}");
            let (again, result) = run();
            assert!(result.is_err() || again == left, "{expression}: {left} and {again}");
        }
        Err(RemoveError::Failed | RemoveError::Exceeded(_)) => assert_eq!(left, object, "{expression}"),
    }
}

/// Returns whether a value is another one without some keys and items. A value that is removed as a whole is `null`.
fn is_part(left: &Value, whole: &Value) -> bool {
    match (left, whole) {
        (Value::Null, _) => true,
        (Value::Object(left), Value::Object(whole)) => {
            left.iter().all(|(key, left)| whole.get(key).is_some_and(|whole| is_part(left, whole)))
        }
        (Value::Array(left), Value::Array(whole)) => {
            let mut rest = whole.iter();
            left.iter().all(|left| rest.any(|whole| is_part(left, whole)))
        }
        (left, whole) => left == whole,
    }
}
