//! An entry of a registry configuration, as helm and docker write it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;
use tiphys_params::context::Secret;

use crate::Login;

/// What an entry has: a token, else `auth` (user and password in base64), else both by name; `None` if it has nothing of that.
pub fn entry_login(entry: &Secret) -> Option<Login> {
    let entry: Value = serde_json::from_str(entry.expose()).ok()?;
    let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty());
    if let Some(token) = text("identitytoken") {
        return Some(Login::Token(Secret::new(token)));
    }
    if let Some(pair) = text("auth") {
        let pair = String::from_utf8(BASE64.decode(pair).ok()?).ok()?;
        let (username, password) = pair.split_once(':')?;
        // Docker has written a zero byte behind some passwords.
        let password = Secret::new(password.trim_end_matches('\0'));
        return Some(Login::Password { username: username.to_owned(), password });
    }
    let (username, password) = (text("username")?, text("password")?);
    Some(Login::Password { username: username.to_owned(), password: Secret::new(password) })
}

#[cfg(test)]
mod tests;
