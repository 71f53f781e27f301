//! Secrets in the one form that the server keeps.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::diff::mask::decoded;

/// Moves `stringData` into `data`, where it wins, and writes base64 in one way, as the server does. What the server would refuse stays
/// as it is.
pub(super) fn normalize(secret: &mut Map<String, Value>) {
    if let Some(Value::Object(data)) = secret.get_mut("data") {
        for value in data.values_mut() {
            if let Some(bytes) = value.as_str().and_then(decoded) {
                *value = STANDARD.encode(bytes).into();
            }
        }
    }
    let Some(Value::Object(texts)) = secret.get("stringData") else { return };
    let Some(texts): Option<Vec<(String, Value)>> =
        texts.iter().map(|(key, text)| Some((key.clone(), STANDARD.encode(text.as_str()?).into()))).collect()
    else {
        return;
    };
    match secret.get_mut("data") {
        None | Some(Value::Null) => {
            if !texts.is_empty() {
                secret.insert("data".to_owned(), Value::Object(texts.into_iter().collect()));
            }
        }
        Some(Value::Object(data)) => data.extend(texts),
        Some(_) => return,
    }
    secret.remove("stringData");
}

#[cfg(test)]
mod tests;
