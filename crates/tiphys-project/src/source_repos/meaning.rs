//! What an address means, however it is written: what servers and git take for one repository is one text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tiphys_access::percent_decode;

/// Schemes, each with what stands for it here and the port that it has where none is written. A registry's address may lack its scheme.
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

/// What ends the host of a pattern, in which `?` is one character.
const PATTERN_ENDS: &[char] = &['/'];

/// What ends the host of an address. A query and a fragment are no part of where a repository is.
const ADDRESS_ENDS: &[char] = &['/', '?', '#'];

/// What an address means, as all ways to write it: in small letters, without user, password, the port that is usual, a dot behind the
/// host, signs that are written as `%XX`, `.`, `..` and empty parts of the path, and `.git`.
///
/// `HOST:PATH` is one of git over SSH, and with a number for a beginning of `PATH` a registry's, too. `None` if the host is written so
/// that only who connects knows which one is meant: in letters that stand for others, or as a number.
pub(super) fn of_address(address: &str) -> Option<Vec<String>> {
    let mut readings = readings(address, ADDRESS_ENDS);
    if readings.len() > 1 {
        readings.retain(Reading::has_numeric_port);
    }
    readings.iter().all(Reading::is_plain).then(|| readings.iter().map(Reading::text).collect())
}

/// The same of a pattern, whose host may be any text.
pub(super) fn of_pattern(pattern: &str) -> Vec<String> {
    readings(pattern, PATTERN_ENDS).iter().map(Reading::text).collect()
}

/// One way to read an address.
struct Reading {
    scheme: String,
    host: String,
    /// Empty for the usual one.
    port: String,
    path: String,
}

fn readings(text: &str, ends: &[char]) -> Vec<Reading> {
    let text = text.trim().to_lowercase();
    if let Some((scheme, rest)) = text.split_once("://") {
        return vec![Reading::of_url(scheme, rest, ends)];
    }
    let over_ssh = text
        .split_once(':')
        .filter(|(host, path)| !host.is_empty() && !host.contains(['/', '[']) && !path.is_empty())
        .map(|(host, path)| Reading::new("ssh", "", host, path));
    let (authority, path) = split(&text, ends);
    let of_registry = Reading::new(REGISTRY, REGISTRY_PORT, authority, path);
    over_ssh.into_iter().chain([of_registry]).collect()
}

impl Reading {
    fn of_url(scheme: &str, rest: &str, ends: &[char]) -> Self {
        let known = SCHEMES.iter().find(|(name, ..)| *name == scheme);
        let (scheme, usual_port) = known.map_or((scheme, ""), |(_, scheme, port)| (*scheme, *port));
        if !matches!(scheme, "ssh" | "git" | "file") {
            let (authority, path) = split(rest, ends);
            return Self::new(scheme, usual_port, authority, path);
        }
        // Git decodes the whole before it looks for anything in it, and knows no query.
        let rest = percent_decode(rest);
        // Of `file://a/b` git reads `/a/b`.
        let (authority, path) = if scheme == "file" { ("", &*rest) } else { split(&rest, PATTERN_ENDS) };
        Self::new(scheme, usual_port, authority, path)
    }

    fn new(scheme: &str, usual_port: &str, authority: &str, path: &str) -> Self {
        let authority = percent_decode(authority).to_lowercase();
        let server = authority.rsplit_once('@').map_or(&*authority, |(_, server)| server);
        // A colon within brackets is an IPv6 address's.
        let (host, port) =
            server.rsplit_once(':').filter(|(_, port)| !port.contains(']')).unwrap_or((server, ""));
        let port = if is_number(port) { port.trim_start_matches('0') } else { port };
        let port = if port == usual_port { "" } else { port };
        let host = host.strip_suffix('.').unwrap_or(host);
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bracketed.and_then(|ip| ip.parse::<Ipv6Addr>().ok()).map(|ip| ip.to_canonical()) {
            Some(IpAddr::V4(ip)) => ip.to_string(),
            Some(IpAddr::V6(ip)) => format!("[{ip}]"),
            None => host.to_owned(),
        };
        let path = resolved(&percent_decode(path).to_lowercase());
        let mut path = path.as_str();
        while let Some(shorter) = path.strip_suffix(".git") {
            path = shorter.trim_end_matches('/');
        }
        Self { scheme: scheme.to_owned(), host, port: port.to_owned(), path: path.to_owned() }
    }

    fn has_numeric_port(&self) -> bool {
        self.port.is_empty() || is_number(&self.port)
    }

    /// Whether everybody who connects takes the host for the same one. There is none in a path of this machine.
    fn is_plain(&self) -> bool {
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

/// What is before the first of `ends`, and the path behind it.
fn split<'a>(text: &'a str, ends: &[char]) -> (&'a str, &'a str) {
    let (authority, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
    let no_path = |c: char| c != '/' && ends.contains(&c);
    (authority, rest.split(no_path).next().unwrap_or_default())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A path without empty parts, `.` and `..`; each part has a slash before it.
fn resolved(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.iter().flat_map(|part| ["/", part]).collect()
}
