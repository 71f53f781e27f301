//! URLs of HTTP servers.

mod fuzz;

use std::fmt;

pub use fuzz::fuzz_address;

use crate::{Secret, redact_url};

/// A URL without user and password, and without what follows `#`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// Lower case; with brackets where it is one of IPv6.
    pub(crate) host: String,
    port: Option<u16>,
    /// Begins with a slash.
    path: String,
    query: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// What a relative reference is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// The address is a folder, whether or not it ends in a slash. Its query goes on to what is below it, as helm has it.
    Folder,
    /// The folder that the address is in.
    File,
}

impl Address {
    /// Reads an absolute URL and the user and password in it; `None` if it is none of http or https.
    pub(crate) fn parse(text: &str) -> Option<(Self, Option<(String, Secret)>)> {
        let text = text.trim();
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (user, server) = match authority.rsplit_once('@') {
            Some((user, server)) => (Some(user), server),
            None => (None, authority),
        };
        let (host, port) = match server.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port.parse().ok()?)),
            _ => (server, None),
        };
        if !is_host(host) {
            return None;
        }
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (rest, None),
        };
        let path = if path.is_empty() { "/" } else { path };
        let address = Self { scheme, host: host.to_ascii_lowercase(), port, path: path.to_owned(), query };
        let login = user.map(|user| {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let [name, password] = [name, password].map(tiphys_access::percent_decode);
            (name, Secret::new(password))
        });
        Some((address, login))
    }

    /// What a reference means here; `None` if it leads to no HTTP server. User and password in it are left out.
    pub(crate) fn resolve(&self, reference: &str, base: Base) -> Option<Self> {
        // Go writes a blank in this way, too; other blanks and control characters are in no URL.
        let reference = reference.trim().replace(' ', "%20");
        if reference.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let reference = reference.as_str();
        if let Some(rest) = reference.strip_prefix("//") {
            let scheme = self.scheme.text();
            return Self::parse(&format!("{scheme}://{rest}")).map(|(address, _)| address);
        }
        let before_path = reference.split(['/', '?', '#']).next().unwrap_or_default();
        if before_path.contains(':') {
            return Self::parse(reference).map(|(address, _)| address);
        }
        let reference = reference.split('#').next().unwrap_or_default();
        let (path, query) = match reference.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (reference, None),
        };
        let folder = match base {
            Base::Folder => self.path.trim_end_matches('/'),
            Base::File => self.path.rsplit_once('/').map_or("", |(folder, _)| folder),
        };
        let whole = if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") };
        let of_base = if base == Base::Folder { self.query.clone() } else { None };
        Some(Self { path: without_dots(&whole), query: query.or(of_base), ..self.clone() })
    }

    /// Whether both are of one server: scheme, host and port.
    pub(crate) fn is_on_same_server(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port() == other.port()
    }

    /// Scheme, host and port as they are written.
    pub(crate) fn server_text(&self) -> String {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.scheme.text(), self.host)
    }

    /// The server, so that two addresses of one server give the same.
    pub(crate) fn server(&self) -> String {
        format!("{}://{}:{}", self.scheme.text(), self.host, self.port())
    }

    /// The port, or that of the scheme.
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or(match self.scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        })
    }

    /// The same with more of a query.
    pub(crate) fn with_query(mut self, name: &str, value: &str) -> Self {
        let value = encoded(value);
        let before = self.query.take().filter(|query| !query.is_empty());
        let before = before.map(|query| query + "&").unwrap_or_default();
        let query = format!("{before}{name}={value}");
        self.query = Some(query);
        self
    }

    /// The whole URL, its query included: for requests only.
    pub(crate) fn text(&self) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{}{query}", self.server_text(), self.path)
    }
}

impl Scheme {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// Without what the query holds, which may be a secret.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact_url(&self.text()))
    }
}

/// Whether this can be the name or the address of a server.
fn is_host(text: &str) -> bool {
    let all = |text: &str, others: &str, is_letter: fn(&char) -> bool| {
        !text.is_empty() && text.chars().all(|c| is_letter(&c) || others.contains(c))
    };
    match text.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|ip| all(ip, ":.", char::is_ascii_hexdigit)),
        None => all(text, "-._", char::is_ascii_alphanumeric),
    }
}

/// A value as queries and forms have it.
pub(crate) fn encoded(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let byte = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(byte).collect()
}

/// A path with `.` and `..` taken out; `..` at the top is nothing.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let ends_in_folder = path.ends_with("/.") || path.ends_with("/..");
    format!("/{}{}", parts.join("/"), if ends_in_folder && !parts.is_empty() { "/" } else { "" })
}

#[cfg(test)]
mod tests;
