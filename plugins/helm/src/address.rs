//! Addresses of repositories, which people may write with a password in them.

use std::fmt;

use tiphys_access::redact_address;

/// An address. It shows itself without what opens it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address(String);

impl Address {
    /// Takes an address: a URL, or a registry's without its scheme.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The whole address, for what fetches from it and for what compares it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact_address(&self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
