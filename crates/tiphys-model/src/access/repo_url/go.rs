//! Parsing and printing of URLs as in Go's `net/url`, on which Argo CD's comparison of repository URLs is based.

use std::net::Ipv6Addr;

/// A component of a URL. It decides which bytes are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UrlPart {
    Path,
    Host,
    Zone,
    User,
    Fragment,
}

/// A URL that Go's `url.Parse` accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GoUrl {
    /// In lower case; empty if the URL has none.
    pub(super) scheme: String,
    /// The decoded host with its port; empty if the URL has none.
    pub(super) host: String,
    /// The string that Go prints.
    pub(super) printed: String,
}

impl GoUrl {
    /// Returns None if Go's parser rejects the URL.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = parse_without_fragment(before)?;
        if !fragment.is_empty() {
            let decoded = unescape(fragment, UrlPart::Fragment)?;
            url.printed.push('#');
            url.printed.push_str(&keep_or_escape(fragment, &decoded, UrlPart::Fragment));
        }
        Some(url)
    }
}

fn parse_without_fragment(text: &str) -> Option<GoUrl> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return None;
    }
    if text == "*" {
        return Some(GoUrl { printed: "*".to_owned(), ..GoUrl::default() });
    }
    let (scheme, rest) = split_scheme(text)?;
    let scheme = scheme.to_ascii_lowercase();
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };

    let mut printed = String::with_capacity(text.len() + 8);
    let mut host = String::new();
    if !scheme.is_empty() {
        printed.push_str(&scheme);
        printed.push(':');
    }
    if !rest.starts_with('/') && !scheme.is_empty() {
        printed.push_str(rest);
    } else {
        host = print_hierarchical(&mut printed, &scheme, rest)?;
    }
    if let Some(query) = query {
        printed.push('?');
        printed.push_str(query);
    }
    Some(GoUrl { scheme, host, printed })
}

/// Prints authority and path, and returns the host. `printed` is the scheme with its colon, or empty.
fn print_hierarchical(printed: &mut String, scheme: &str, rest: &str) -> Option<String> {
    let first_segment = rest.split('/').next().unwrap_or_default();
    if !rest.starts_with('/') && first_segment.contains(':') {
        return None;
    }
    let has_authority = rest.starts_with("//") && (!scheme.is_empty() || !rest.starts_with("///"));
    let (user, host, path) = if has_authority {
        let after = &rest[2..];
        let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
        let (user, host) = parse_authority(scheme, authority)?;
        (user, host, path)
    } else {
        (None, Vec::new(), rest)
    };
    let decoded_path = unescape(path, UrlPart::Path)?;

    let host_is_omitted = !has_authority && !scheme.is_empty() && rest.starts_with('/');
    let has_any = !host.is_empty() || !decoded_path.is_empty() || user.is_some();
    if (!scheme.is_empty() || !host.is_empty() || user.is_some()) && !host_is_omitted && has_any {
        printed.push_str("//");
        if let Some(user) = &user {
            printed.push_str(user);
            printed.push('@');
        }
        printed.push_str(&escape(&host, UrlPart::Host));
    }
    let path = if decoded_path == b"*" && !path_is_kept(path) {
        "*".to_owned()
    } else {
        keep_or_escape(path, &decoded_path, UrlPart::Path)
    };
    if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
        printed.push('/');
    }
    if printed.is_empty() && path.split('/').next().is_some_and(|segment| segment.contains(':')) {
        printed.push_str("./");
    }
    printed.push_str(&path);
    Some(String::from_utf8_lossy(&host).into_owned())
}

/// Splits a URL at the colon after its scheme. The scheme is empty if the URL has none. None if the URL starts with a colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

/// Returns the user information as printed, and the decoded host.
fn parse_authority(scheme: &str, authority: &str) -> Option<(Option<String>, Vec<u8>)> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return Some((None, parse_host(scheme, authority)?));
    };
    let host = parse_host(scheme, host)?;
    let valid = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(valid) {
        return None;
    }
    let printed = match user.split_once(':') {
        None => escape(&unescape(user, UrlPart::User)?, UrlPart::User),
        Some((name, password)) => {
            let name = escape(&unescape(name, UrlPart::User)?, UrlPart::User);
            format!("{name}:{}", escape(&unescape(password, UrlPart::User)?, UrlPart::User))
        }
    };
    Some((Some(printed), host))
}

fn parse_host(scheme: &str, host: &str) -> Option<Vec<u8>> {
    match host.rfind('[') {
        Some(0) => return parse_ip_literal(host),
        Some(_) => return None,
        None => {}
    }
    if let Some(first) = host.find(':') {
        let strict = matches!(scheme, "http" | "https");
        let colon = if strict { first } else { host.rfind(':').unwrap_or(first) };
        if !is_optional_port(&host[colon..]) {
            return None;
        }
    }
    unescape(host, UrlPart::Host)
}

/// Parses an IPv6 literal such as `[fe80::1%25en0]:80`.
fn parse_ip_literal(host: &str) -> Option<Vec<u8>> {
    let close = host.rfind(']')?;
    let (name, port) = (&host[1..close], &host[close + 1..]);
    if !is_optional_port(port) {
        return None;
    }
    let name = match name.find("%25") {
        Some(zone) => {
            let mut whole = unescape(&name[..zone], UrlPart::Host)?;
            whole.extend(unescape(&name[zone..], UrlPart::Zone)?);
            whole
        }
        None => unescape(name, UrlPart::Host)?,
    };
    let text = std::str::from_utf8(&name).ok()?;
    let address = match text.split_once('%') {
        Some((_, "")) => return None,
        Some((address, _)) => address,
        None => text,
    };
    address.parse::<Ipv6Addr>().ok()?;
    let mut literal = vec![b'['];
    literal.extend(&name);
    literal.push(b']');
    literal.extend(port.bytes());
    Some(literal)
}

fn is_optional_port(port: &str) -> bool {
    port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the string as written if it is a valid encoding of the decoded bytes; otherwise the default encoding.
fn keep_or_escape(written: &str, decoded: &[u8], part: UrlPart) -> String {
    let escaped = escape(decoded, part);
    if written == escaped || !is_valid_encoding(written, part) { escaped } else { written.to_owned() }
}

fn path_is_kept(written: &str) -> bool {
    written != escape(b"*", UrlPart::Path) && is_valid_encoding(written, UrlPart::Path)
}

fn is_valid_encoding(text: &str, part: UrlPart) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || !is_escaped(byte, part))
}

fn unescape(text: &str, part: UrlPart) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%' {
            let digits = text.get(at + 1..at + 3)?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            let value = u8::from_str_radix(digits, 16).ok()?;
            let refused = match part {
                UrlPart::Host => value < 0x80 && digits != "25",
                UrlPart::Zone => digits != "25" && value != b' ' && is_escaped(value, UrlPart::Host),
                UrlPart::Path | UrlPart::User | UrlPart::Fragment => false,
            };
            if refused {
                return None;
            }
            out.push(value);
            at += 3;
        } else {
            if matches!(part, UrlPart::Host | UrlPart::Zone) && byte < 0x80 && is_escaped(byte, part) {
                return None;
            }
            out.push(byte);
            at += 1;
        }
    }
    Some(out)
}

fn escape(bytes: &[u8], part: UrlPart) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        if is_escaped(byte, part) {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

/// Go's table of the bytes that are escaped as `%XX` (`shouldEscape`).
fn is_escaped(byte: u8, part: UrlPart) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    let kept: &[u8] = match part {
        UrlPart::Host | UrlPart::Zone => b"!$&'()*+,;=:[]<>\"",
        UrlPart::Path => b"$&+,/:;=@",
        UrlPart::User => b"$&+,;=",
        UrlPart::Fragment => b"$&+,/:;=?@!()*",
    };
    !kept.contains(&byte)
}
