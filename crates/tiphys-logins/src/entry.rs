//! Entries of registry configurations in the format of Helm and Docker.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};
use tiphys_model::access::{RegistryEntry, Secret};

use crate::Login;

/// Base64 as decoded by Go.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// An invalid entry. The message does not quote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the credentials for {registry} in {file} cannot be used: {problem}")]
pub struct EntryError {
    registry: String,
    file: String,
    problem: String,
}

/// Returns the credentials of an entry: a token, else `auth` (user name and password in base64), else `username` and `password`; `None` if
/// it has none of them. Entries that Helm rejects when it logs in to a registry are errors. `registry` is used in messages.
pub fn entry_login(entry: &RegistryEntry, registry: &str) -> Result<Option<Login>, EntryError> {
    login(entry.json.expose()).map_err(|problem| EntryError {
        registry: registry.to_owned(),
        file: entry.file.clone(),
        problem,
    })
}

fn login(json: &str) -> Result<Option<Login>, String> {
    let entry: Value = serde_json::from_str(json).unwrap_or_default();
    let fields = match &entry {
        Value::Null => return Ok(None),
        Value::Object(fields) => fields,
        _ => return Err("it is not an object".to_owned()),
    };
    let [token, pair, username, password] =
        ["identitytoken", "auth", "username", "password"].map(|field| text(fields, field));
    let (token, pair, username, password) = (token?, pair?, username?, password?);
    let pair = pair.map(user_and_password).transpose()?;
    Ok(match (token, pair, username, password) {
        (Some(token), ..) => Some(Login::Token(Secret::new(token))),
        (None, Some((username, password)), ..) => Some(Login::Password { username, password }),
        (None, None, Some(username), Some(password)) => {
            Some(Login::Password { username: username.to_owned(), password: Secret::new(password) })
        }
        (None, None, ..) => None,
    })
}

/// Returns a string field; `None` if it is missing or empty.
fn text<'a>(fields: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>, String> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("its field {field} must be a string")),
    }
}

fn user_and_password(auth: &str) -> Result<(String, Secret), String> {
    let malformed = || "its field auth is not base64 of USER:PASSWORD".to_owned();
    let bytes = BASE64.decode(auth.replace(['\r', '\n'], "")).map_err(|_| malformed())?;
    let pair = String::from_utf8(bytes).map_err(|_| "its field auth is not UTF-8".to_owned())?;
    let (username, password) = pair.split_once(':').ok_or_else(malformed)?;
    // Docker has appended a NUL byte to some passwords.
    Ok((username.to_owned(), Secret::new(password.trim_end_matches('\0'))))
}

#[cfg(test)]
mod tests;
