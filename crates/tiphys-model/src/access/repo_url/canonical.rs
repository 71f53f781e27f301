//! Canonical forms of repository addresses: equal for all spellings that servers and git treat as the same repository. Projects that deny
//! a repository deny all its spellings.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Authority, DECODED_BY_GIT, percent_decode};

/// Schemes with their canonical form and default port. The scheme `oci://` is optional.
const SCHEMES: [(&str, &str, &str); 8] = [
    ("https", "https", "443"),
    ("http", "http", "80"),
    ("ssh", "ssh", "22"),
    ("git+ssh", "ssh", "22"),
    ("ssh+git", "ssh", "22"),
    ("git", "git", "9418"),
    ("oci", REGISTRY, REGISTRY_PORT),
    ("file", "file", ""),
];

const REGISTRY: &str = "";
const REGISTRY_PORT: &str = "443";

/// Ends of the host in a pattern, in which `?` is a wildcard.
const PATTERN_ENDS: &[char] = &['/'];

/// Ends of the host in an address. A query and a fragment do not identify a repository.
const ADDRESS_ENDS: &[char] = &['/', '?', '#'];

/// Returns the canonical forms of an address: lower case, without user, password, default port, trailing dot of the host, percent-encoding,
/// `.git`, and the path segments `.`, `..` and empty ones.
///
/// `HOST:PATH` is git over SSH; if `PATH` starts with a number, it may also be a registry. None if the host is ambiguous because clients
/// may resolve it differently: it has non-ASCII characters, or is an IP address in a non-standard notation.
pub fn canonical_addresses(address: &str) -> Option<Vec<String>> {
    let mut locations = locations(address, ADDRESS_ENDS);
    if locations.len() > 1 {
        locations.retain(Location::has_numeric_port);
    }
    locations.iter().all(Location::is_unambiguous).then(|| locations.iter().map(Location::text).collect())
}

/// Returns the canonical forms of a pattern, whose host is not checked.
pub fn canonical_patterns(pattern: &str) -> Vec<String> {
    locations(pattern, PATTERN_ENDS).iter().map(Location::text).collect()
}

/// One interpretation of an address.
struct Location {
    scheme: String,
    host: String,
    /// Empty for the scheme's default port.
    port: String,
    path: String,
}

fn locations(text: &str, ends: &[char]) -> Vec<Location> {
    let text = text.trim().to_lowercase();
    if let Some((scheme, rest)) = text.split_once("://") {
        return vec![Location::of_url(scheme, rest, ends)];
    }
    let over_ssh = text
        .split_once(':')
        .filter(|(host, path)| !host.is_empty() && !host.contains(['/', '[']) && !path.is_empty())
        .map(|(host, path)| Location::new("ssh", "", host, path));
    let (authority, path) = split(&text, ends);
    let of_registry = Location::new(REGISTRY, REGISTRY_PORT, authority, path);
    over_ssh.into_iter().chain([of_registry]).collect()
}

impl Location {
    fn of_url(scheme: &str, rest: &str, ends: &[char]) -> Self {
        let known = SCHEMES.iter().find(|(name, ..)| *name == scheme);
        let (scheme, default_port) = known.map_or((scheme, ""), |(_, scheme, port)| (*scheme, *port));
        if !DECODED_BY_GIT.contains(&scheme) {
            let (authority, path) = split(rest, ends);
            return Self::new(scheme, default_port, authority, path);
        }
        // Git decodes the whole URL before it splits it, and has no query.
        let rest = percent_decode(rest);
        // Git reads `file://a/b` as `/a/b`.
        let (authority, path) = if scheme == "file" { ("", &*rest) } else { split(&rest, PATTERN_ENDS) };
        Self::new(scheme, default_port, authority, path)
    }

    fn new(scheme: &str, default_port: &str, authority: &str, path: &str) -> Self {
        let authority = percent_decode(authority).to_lowercase();
        let Authority { host, port, .. } = Authority::of_url(&authority);
        let port = port.unwrap_or_default();
        let port = if is_number(port) { port.trim_start_matches('0') } else { port };
        let port = if port == default_port { "" } else { port };
        let host = host.strip_suffix('.').unwrap_or(host);
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bracketed.and_then(|ip| ip.parse::<Ipv6Addr>().ok()).map(|ip| ip.to_canonical()) {
            Some(IpAddr::V4(ip)) => ip.to_string(),
            Some(IpAddr::V6(ip)) => format!("[{ip}]"),
            None => host.to_owned(),
        };
        let path = clean_path(&percent_decode(path).to_lowercase());
        let mut path = path.as_str();
        while let Some(shorter) = path.strip_suffix(".git") {
            path = shorter.trim_end_matches('/');
        }
        Self { scheme: scheme.to_owned(), host, port: port.to_owned(), path: path.to_owned() }
    }

    fn has_numeric_port(&self) -> bool {
        self.port.is_empty() || is_number(&self.port)
    }

    /// Whether all clients resolve the host the same way. A local path has no host.
    fn is_unambiguous(&self) -> bool {
        if self.host.is_empty() {
            return matches!(&*self.scheme, REGISTRY | "file");
        }
        let is_ip_6 =
            self.host.starts_with('[') && self.host.trim_matches(['[', ']']).parse::<Ipv6Addr>().is_ok();
        let is_name = self.host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
        let last = self.host.rsplit('.').next().unwrap_or_default();
        let is_ip_4 = is_number(last) || last.starts_with("0x");
        let is_host = is_ip_6 || is_name && (!is_ip_4 || self.host.parse::<Ipv4Addr>().is_ok());
        is_host && self.has_numeric_port()
    }

    fn text(&self) -> String {
        let Self { scheme, host, port, path } = self;
        let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
        let port = if port.is_empty() { String::new() } else { format!(":{port}") };
        format!("{scheme}{host}{port}{path}")
    }
}

/// Returns the part before the first of `ends`, and the path after it.
fn split<'a>(text: &'a str, ends: &[char]) -> (&'a str, &'a str) {
    let (authority, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
    let no_path = |c: char| c != '/' && ends.contains(&c);
    (authority, rest.split(no_path).next().unwrap_or_default())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a path without empty segments, `.` and `..`; each segment starts with a slash.
fn clean_path(path: &str) -> String {
    let clean = tiphys_go::path::clean(format!("/{path}").as_bytes());
    String::from_utf8_lossy(clean.strip_suffix(b"/").unwrap_or(&clean)).into_owned()
}
