//! URLs, by the rules of Go's `net/url`: parsing, with its messages, and printing.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::strconv::quote;

/// A component of a URL. It decides which bytes are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlPart {
    /// The path.
    Path,
    /// The host.
    Host,
    /// The zone of an IPv6 address.
    Zone,
    /// A user name or a password.
    User,
    /// A key or a value of the query.
    Query,
    /// The fragment.
    Fragment,
}

/// The name of a user and the password.
pub type UserInfo = (Vec<u8>, Option<Vec<u8>>);

/// A parsed URL. Its strings are decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// In lower case; empty if the URL has none.
    pub scheme: Vec<u8>,
    /// The rest of a URL with a scheme and without a slash after it.
    pub opaque: Vec<u8>,
    /// The user, if the URL has one.
    pub user: Option<UserInfo>,
    /// With its port; empty if the URL has none.
    pub host: Vec<u8>,
    /// The path.
    pub path: Vec<u8>,
    /// The string after `?`, which is not decoded. `None` without `?`.
    pub query: Option<Vec<u8>>,
    /// The string after `#`.
    pub fragment: Vec<u8>,
    /// The path and the fragment as they were written; empty for a URL that was not parsed.
    pub(crate) written: (Vec<u8>, Vec<u8>),
    /// Whether the scheme is followed by one slash.
    pub(crate) has_no_authority: bool,
}

/// Why Go refuses a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parse {}: {message}", quoted(url))]
pub struct UrlError {
    /// The parsed string: the URL, without the fragment unless that is invalid.
    pub url: Vec<u8>,
    /// Go's message.
    pub message: String,
}

impl Url {
    /// Parses a URL as `url.Parse`.
    pub fn parse(text: &[u8]) -> Result<Self, UrlError> {
        let (main, fragment) = split_once(text, b'#');
        let failed = |url: &[u8]| {
            let url = url.to_vec();
            move |message| UrlError { url, message }
        };
        let mut url = parse_without_fragment(main).map_err(failed(main))?;
        if let Some(fragment) = fragment {
            url.fragment = unescape(fragment, UrlPart::Fragment).map_err(failed(text))?;
            url.written.1 = fragment.to_vec();
        }
        Ok(url)
    }

    /// Returns the user name and password as printed; empty without a user.
    pub fn user_info(&self) -> String {
        let Some((name, password)) = &self.user else { return String::new() };
        let name = escape(name, UrlPart::User);
        match password {
            Some(password) => format!("{name}:{}", escape(password, UrlPart::User)),
            None => name,
        }
    }

    /// Returns the host without its port and brackets.
    pub fn hostname(&self) -> &[u8] {
        let colon =
            self.host.iter().rposition(|byte| *byte == b':').filter(|colon| is_port(&self.host[*colon..]));
        let host = &self.host[..colon.unwrap_or(self.host.len())];
        host.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or(host)
    }

    /// Prints the URL as `URL.String`.
    pub fn print(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend([&self.scheme, &b":"[..]].concat());
        }
        if self.opaque.is_empty() {
            self.print_hierarchical(&mut out);
        } else {
            out.extend_from_slice(&self.opaque);
        }
        if let Some(query) = &self.query {
            out.extend([b"?", &query[..]].concat());
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            out.extend(keep_or_escape(&self.written.1, &self.fragment, UrlPart::Fragment));
        }
        out
    }

    fn print_hierarchical(&self, out: &mut Vec<u8>) {
        let has_host = !self.host.is_empty() || self.user.is_some();
        if has_host || !(self.scheme.is_empty() || self.path.is_empty() || self.has_no_authority) {
            out.extend(b"//");
            if self.user.is_some() {
                out.extend(self.user_info().as_bytes());
                out.push(b'@');
            }
            out.extend(escape(&self.host, UrlPart::Host).as_bytes());
        }
        let is_star = self.path == b"*" && !is_kept(&self.written.0, &self.path, UrlPart::Path);
        let path =
            if is_star { b"*".to_vec() } else { keep_or_escape(&self.written.0, &self.path, UrlPart::Path) };
        if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
            out.push(b'/');
        }
        if out.is_empty() && split_once(&path, b'/').0.contains(&b':') {
            out.extend(b"./");
        }
        out.extend(path);
    }
}

/// Escapes bytes as `%XX`; spaces of a query as `+`.
pub fn escape(bytes: &[u8], part: UrlPart) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte == b' ' && part == UrlPart::Query {
            out.push('+');
        } else if is_escaped(byte, part) {
            write!(out, "%{byte:02X}").expect("writing to a string");
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

fn quoted(bytes: &[u8]) -> String {
    quote(bytes)
}

fn split_once(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == separator) {
        Some(position) => (&text[..position], Some(&text[position + 1..])),
        None => (text, None),
    }
}

fn parse_without_fragment(text: &[u8]) -> Result<Url, String> {
    if text.iter().any(|byte| *byte < b' ' || *byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let mut url = Url::default();
    if text == b"*" {
        url.path = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (mut rest, query) = split_once(rest, b'?');
    url.query = query.map(<[u8]>::to_vec);
    if !rest.starts_with(b"/") {
        if !url.scheme.is_empty() {
            url.opaque = rest.to_vec();
            return Ok(url);
        }
        if split_once(rest, b'/').0.contains(&b':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    if rest.starts_with(b"//") && (!url.scheme.is_empty() || !rest.starts_with(b"///")) {
        let end = rest[2..].iter().position(|byte| *byte == b'/').map_or(rest.len(), |slash| slash + 2);
        parse_authority(&mut url, &rest[2..end])?;
        rest = &rest[end..];
    } else {
        url.has_no_authority = !url.scheme.is_empty();
    }
    url.path = unescape(rest, UrlPart::Path)?;
    url.written.0 = rest.to_vec();
    Ok(url)
}

/// Splits a URL at the colon after its scheme. The scheme is empty if the URL has none.
fn split_scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..index], &text[index + 1..])),
            _ => break,
        }
    }
    Ok((b"", text))
}

fn parse_authority(url: &mut Url, text: &[u8]) -> Result<(), String> {
    let Some(at) = text.iter().rposition(|byte| *byte == b'@') else {
        url.host = parse_host(&url.scheme, text)?;
        return Ok(());
    };
    url.host = parse_host(&url.scheme, &text[at + 1..])?;
    let user = &text[..at];
    if !user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = split_once(user, b':');
    let password = password.map(|password| unescape(password, UrlPart::User)).transpose()?;
    url.user = Some((unescape(name, UrlPart::User)?, password));
    Ok(())
}

fn parse_host(scheme: &[u8], text: &[u8]) -> Result<Vec<u8>, String> {
    match text.iter().rposition(|byte| *byte == b'[') {
        Some(0) => return parse_ip_literal(text),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    if let Some(first) = text.iter().position(|byte| *byte == b':') {
        let last = text.iter().rposition(|byte| *byte == b':').unwrap_or(first);
        check_port(&text[if matches!(scheme, b"http" | b"https") { first } else { last }..])?;
    }
    unescape(text, UrlPart::Host)
}

/// Parses an IPv6 literal such as `[fe80::1%25en0]:80`.
fn parse_ip_literal(text: &[u8]) -> Result<Vec<u8>, String> {
    let end = text.iter().rposition(|byte| *byte == b']').ok_or("missing ']' in host")?;
    let (name, port) = (&text[1..end], &text[end + 1..]);
    check_port(port)?;
    let zone = name.windows(3).position(|window| window == b"%25").unwrap_or(name.len());
    let address = unescape(&name[..zone], UrlPart::Host)?;
    let zone = unescape(&name[zone..], UrlPart::Zone)?;
    let parsed = std::str::from_utf8(&address).unwrap_or_default();
    if parsed.parse::<Ipv4Addr>().is_ok() {
        return Err("invalid IP-literal".to_owned());
    }
    let problem = match (parsed.parse::<Ipv6Addr>(), zone.as_slice()) {
        (Ok(_), b"%") => "zone must be a non-empty string",
        (Ok(_), _) => return Ok([b"[", &address[..], &zone, b"]", port].concat()),
        (Err(_), _) => "unable to parse IP",
    };
    Err(format!("invalid host: ParseAddr({}): {problem}", quoted(&[address, zone].concat())))
}

fn is_port(text: &[u8]) -> bool {
    text.is_empty() || (text[0] == b':' && text[1..].iter().all(u8::is_ascii_digit))
}

fn check_port(port: &[u8]) -> Result<(), String> {
    if is_port(port) { Ok(()) } else { Err(format!("invalid port {} after host", quoted(port))) }
}

/// Decodes `%XX`.
fn unescape(text: &[u8], part: UrlPart) -> Result<Vec<u8>, String> {
    let is_host = matches!(part, UrlPart::Host | UrlPart::Zone);
    let (mut out, mut index) = (Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = text.get(index) {
        if byte != b'%' {
            if is_host && byte < 0x80 && is_escaped(byte, part) {
                return Err(format!("invalid character {} in host name", quoted(&[byte])));
            }
            out.push(byte);
            index += 1;
            continue;
        }
        let digits = text.get(index + 1..index + 3).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let is_permitted = |decoded: &u8| match part {
            UrlPart::Host => *decoded >= 0x80 || digits == Some("25"),
            UrlPart::Zone => digits == Some("25") || *decoded == b' ' || !is_escaped(*decoded, UrlPart::Host),
            _ => true,
        };
        let Some(decoded) = decoded.filter(is_permitted) else {
            return Err(format!("invalid URL escape {}", quoted(&text[index..text.len().min(index + 3)])));
        };
        out.push(decoded);
        index += 3;
    }
    Ok(out)
}

/// Returns the string as written if it is a valid encoding of the decoded bytes; otherwise the default encoding.
fn keep_or_escape(written: &[u8], decoded: &[u8], part: UrlPart) -> Vec<u8> {
    if is_kept(written, decoded, part) { written.to_vec() } else { escape(decoded, part).into_bytes() }
}

fn is_kept(written: &[u8], decoded: &[u8], part: UrlPart) -> bool {
    let is_valid = |byte: &u8| b"!$&'()*+,;=:@[]%".contains(byte) || !is_escaped(*byte, part);
    !written.is_empty() && written != escape(decoded, part).as_bytes() && written.iter().all(is_valid)
}

/// Go's table of the bytes that are escaped (`shouldEscape`).
fn is_escaped(byte: u8, part: UrlPart) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    let unescaped: &[u8] = match part {
        UrlPart::Host | UrlPart::Zone => b"!$&'()*+,;=:[]<>\"",
        UrlPart::Path => b"$&+,/:;=@",
        UrlPart::User => b"$&+,;=",
        UrlPart::Query => b"",
        UrlPart::Fragment => b"$&+,/:;=?@!()*",
    };
    !unescaped.contains(&byte)
}
