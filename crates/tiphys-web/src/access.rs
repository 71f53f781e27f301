//! Who may use the page: the browser that opened the address with the one-time token.

use std::sync::Mutex;
use std::sync::PoisonError;

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use blake3::KEY_LEN;

/// The query parameter of the first address.
pub(crate) const TOKEN: &str = "token";

/// The field of each form that proves that a page of this server has it.
pub(crate) const FORM_TOKEN: &str = "csrf";

/// The secrets of one run of the server. A restart makes new ones.
#[derive(Debug)]
pub(crate) struct Access {
    /// The token of the first address until it is used.
    first: Mutex<Option<Secret>>,
    /// The name of the cookie. Cookies do not distinguish ports, so it has the port.
    cookie: String,
    session: Secret,
    form: Secret,
}

/// A random string. Equality takes constant time.
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

impl Secret {
    fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(blake3::hash(&bytes).to_hex().to_string()))
    }

    fn is(&self, given: &str) -> bool {
        // Hashes compare in constant time.
        blake3::hash(self.0.as_bytes()) == blake3::hash(given.as_bytes())
    }
}

impl Access {
    /// Makes the secrets of a server on this port.
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        Ok(Self {
            first: Mutex::new(Some(Secret::random()?)),
            cookie: format!("tiphys_{port}"),
            session: Secret::random()?,
            form: Secret::random()?,
        })
    }

    /// Returns a random string for the nonce of one response.
    pub(crate) fn random() -> Result<String, getrandom::Error> {
        Ok(Secret::random()?.0)
    }

    /// Returns the token of the first address; empty if it was used.
    pub(crate) fn first_token(&self) -> String {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map(|token| token.0.clone()).unwrap_or_default()
    }

    /// Uses the token of the first address. It is accepted once.
    pub(crate) fn admit(&self, token: &str) -> bool {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.take_if(|first| first.is(token)).is_some()
    }

    /// Returns the cookie of an admitted browser.
    pub(crate) fn set_cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.session.0)
    }

    /// Whether a request has the cookie.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie && self.session.is(value))
    }

    /// Returns the key of the digests of reviews.
    pub(crate) fn review_key(&self) -> [u8; KEY_LEN] {
        blake3::derive_key("tiphys 2026 digests of reviews", self.session.0.as_bytes())
    }

    /// Returns the token of forms.
    pub(crate) fn form_token(&self) -> &str {
        &self.form.0
    }

    /// Whether a form has the token.
    pub(crate) fn is_form_token(&self, given: Option<&str>) -> bool {
        given.is_some_and(|given| self.form.is(given))
    }
}

#[cfg(test)]
mod tests;
