//! URLs of HTTP servers.

mod fuzz;

use std::fmt;

use reqwest::Url;
use tiphys_model::access::{RepoUrl, Secret, percent_decode, redact_url};

pub use fuzz::fuzz_url;

/// An `http` or `https` URL without user information and fragment.
///
/// It is normalised when it is parsed: host in lower case, no default port, no dot segments, and `%XX` for characters that are not
/// allowed in URLs. Nothing is changed later: requests are sent to exactly [`HttpUrl::as_str`].
#[derive(Clone, PartialEq, Eq)]
pub struct HttpUrl(Url);

/// How a relative reference is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The URL is a directory, whether or not its path ends in a slash. Its query is added to references without one, as Helm does.
    Directory,
    /// The URL is a file: references are relative to the directory of the URL.
    File,
}

impl HttpUrl {
    /// Parses an absolute URL. Returns the URL, and the user name and password in it. None if the URL is invalid, or neither `http`
    /// nor `https`.
    pub fn parse(text: &str) -> Option<(Self, Option<(String, Secret)>)> {
        let address = RepoUrl::new(text);
        if has_blank_or_control(address.expose()) || address.is_ambiguous() {
            return None;
        }
        let scheme = address.scheme()?;
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return None;
        }
        // The parser of `Url` is that of browsers: it takes a missing port, `\` for `/`, and `%` in host names.
        let (host, port, server) = (address.host(), address.port(), address.server());
        let path_and_query = address.path().split('#').next().unwrap_or_default();
        if !is_host(host) || port == Some("") {
            return None;
        }
        let (path, query) = split_query(path_and_query);
        let mut url = Url::parse(&format!("{scheme}://{server}")).ok()?;
        url.set_path(&checked_path(path)?);
        url.set_query(query);
        let credentials = address.user_info().map(|user_info| {
            let (name, password) = user_info.split_once(':').unwrap_or((user_info, ""));
            let [name, password] = [name, password].map(percent_decode);
            (name, Secret::new(password))
        });
        Some((Self(url), credentials))
    }

    /// Resolves a reference relative to this URL. User information in the reference is dropped. None if the result is invalid, or
    /// neither `http` nor `https`.
    pub fn resolve(&self, reference: &str, base: Base) -> Option<Self> {
        // Go encodes blanks as well. Other blanks and control characters are not allowed in URLs.
        let reference = reference.trim().replace(' ', "%20");
        if has_blank_or_control(&reference) {
            return None;
        }
        let reference = reference.as_str();
        if let Some(rest) = reference.strip_prefix("//") {
            return Self::parse(&format!("{}://{rest}", self.0.scheme())).map(|(url, _)| url);
        }
        let before_path = reference.split(['/', '?', '#']).next().unwrap_or_default();
        if before_path.contains(':') {
            return Self::parse(reference).map(|(url, _)| url);
        }
        let (path, query) = split_query(reference.split('#').next().unwrap_or_default());
        let own_path = self.0.path();
        let (directory, base_query) = match base {
            Base::Directory => (own_path.trim_end_matches('/'), self.0.query()),
            Base::File => (own_path.rsplit_once('/').map_or("", |(directory, _)| directory), None),
        };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") };
        let mut url = self.0.clone();
        url.set_path(&checked_path(&path)?);
        url.set_query(query.or(base_query));
        Some(Self(url))
    }

    /// Returns the URL with a query parameter added.
    #[must_use]
    pub fn with_query(mut self, name: &str, value: &str) -> Self {
        let mut query = self.0.query().unwrap_or_default().to_owned();
        if !query.is_empty() {
            query.push('&');
        }
        self.0.set_query(Some(&format!("{query}{name}={}", percent_encode(value))));
        self
    }

    /// Whether both URLs have the same scheme, host and port.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.0.origin() == other.0.origin()
    }

    /// Whether the scheme is `https`.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Scheme, host and port: `https://example.org:8443`. A default port is omitted.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// The whole URL. The query may hold secrets; messages use `Display`.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn as_url(&self) -> &Url {
        &self.0
    }
}

/// The query is redacted.
impl fmt::Display for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact_url(self.as_str()))
    }
}

/// The query is redacted.
impl fmt::Debug for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether a string can be the host of a URL: a name, an IPv4 address, or an IPv6 address in brackets.
pub(crate) fn is_host(text: &str) -> bool {
    let consists_of =
        |text: &str, is_allowed: fn(char) -> bool| !text.is_empty() && text.chars().all(is_allowed);
    match text.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')
            .is_some_and(|ip| consists_of(ip, |c| c.is_ascii_hexdigit() || ":.".contains(c))),
        None => consists_of(text, |c| c.is_ascii_alphanumeric() || "-._".contains(c)),
    }
}

/// Percent-encodes a value for a query, a form or a segment of a path (RFC 3986, section 2.3).
pub fn percent_encode(value: &str) -> String {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode =
        |byte: u8| if is_unreserved(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(encode).collect()
}

fn has_blank_or_control(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn split_query(text: &str) -> (&str, Option<&str>) {
    text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)))
}

/// A path for `Url`, with `\` encoded as Go does; `Url` would turn it into `/`. None for encoded dot segments: `Url` would resolve
/// them, and servers would get another path than the one that was written.
fn checked_path(path: &str) -> Option<String> {
    let is_encoded_dot = |segment: &str| {
        let decoded = segment.to_ascii_lowercase().replace("%2e", ".");
        segment.contains('%') && [".", ".."].contains(&decoded.as_str())
    };
    (!path.split('/').any(is_encoded_dot)).then(|| path.replace('\\', "%5C"))
}

#[cfg(test)]
mod tests;
