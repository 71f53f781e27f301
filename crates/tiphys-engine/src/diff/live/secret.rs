//! Secrets in the canonical form in which the API server stores them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::diff::mask::decoded;

/// Moves `stringData` into `data`, where it takes precedence, and writes base64 in its canonical form, as the server does. Values that the
/// server would reject stay unchanged.
pub(super) fn normalize(secret: &mut Map<String, Value>) {
    if let Some(Value::Object(data)) = secret.get_mut("data") {
        for value in data.values_mut() {
            if let Some(bytes) = value.as_str().and_then(decoded) {
                *value = STANDARD.encode(bytes).into();
            }
        }
    }
    let Some(Value::Object(plain)) = secret.get("stringData") else { return };
    let Some(plain): Option<Vec<(String, Value)>> =
        plain.iter().map(|(key, text)| Some((key.clone(), STANDARD.encode(text.as_str()?).into()))).collect()
    else {
        return;
    };
    match secret.get_mut("data") {
        None | Some(Value::Null) => {
            if !plain.is_empty() {
                secret.insert("data".to_owned(), Value::Object(plain.into_iter().collect()));
            }
        }
        Some(Value::Object(data)) => data.extend(plain),
        Some(_) => return,
    }
    secret.remove("stringData");
}

#[cfg(test)]
mod tests;
