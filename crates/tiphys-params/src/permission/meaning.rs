//! What an address means, however it is written: what servers and git take for one repository is one text.

use crate::percent_decode;

/// Schemes, each with what stands for it here and the port that it has where none is written.
const SCHEMES: [(&str, &str, &str); 8] = [
    ("https", "https", "443"),
    ("http", "http", "80"),
    ("ssh", "ssh", "22"),
    ("git+ssh", "ssh", "22"),
    ("ssh+git", "ssh", "22"),
    ("git", "git", "9418"),
    ("oci", "oci", "443"),
    ("file", "file", ""),
];

/// An address as all ways to write it mean it: in small letters, without user, password, the port that is usual, a dot behind the host,
/// signs that are written as `%XX`, `.`, `..` and empty parts of the path, and `.git`. `git@HOST:PATH` has the scheme `ssh`.
///
/// A query and a fragment are no part of where a repository is.
pub(super) fn of_address(address: &str) -> String {
    of_pattern(address.split(['?', '#']).next().unwrap_or_default())
}

/// The same of a pattern, in which `?` is one character.
pub(super) fn of_pattern(pattern: &str) -> String {
    let text = pattern.trim().to_lowercase();
    let (scheme, authority, path) = parts(&text);
    let (scheme, usual_port) = SCHEMES
        .iter()
        .find(|(name, ..)| *name == scheme)
        .map_or((scheme, ""), |(_, scheme, port)| (*scheme, *port));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let is_usual = |port: &str| port.is_empty() || port.trim_start_matches('0') == usual_port;
    let host = host.rsplit_once(':').filter(|(_, port)| is_usual(port)).map_or(host, |(host, _)| host);
    let host = host.strip_suffix('.').unwrap_or(host);
    let path = resolved(&percent_decode(path).to_lowercase());
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    format!("{scheme}{host}{}", path.strip_suffix(".git").unwrap_or(&path))
}

/// Scheme, authority and path. An address without a scheme is a registry's, or one of git over SSH.
fn parts(text: &str) -> (&str, &str, &str) {
    let split = |rest: &'_ str| rest.find('/').unwrap_or(rest.len());
    if let Some((scheme, rest)) = text.split_once("://") {
        let (authority, path) = rest.split_at(split(rest));
        return (scheme, authority, path);
    }
    let (authority, path) = text.split_at(split(text));
    match authority.split_once(':') {
        Some((host, _)) if host.contains('@') => ("ssh", host, &text[host.len() + 1..]),
        _ if authority.contains('@') => ("ssh", authority, path),
        _ => ("", authority, path),
    }
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
