//! URLs, by the rules of Go's `net/url`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::unicode::{Unescaped, quote};
use crate::gotemplate::value::{Map, Str, Value};

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("urlParse", &[Type::String], parse), Function::new("urlJoin", &[Type::Map], join)];

/// A part of a URL: which characters it contains unescaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Path,
    Host,
    Zone,
    User,
    Query,
    Fragment,
}

fn is_escaped(byte: u8, part: Part) -> bool {
    let is_host = matches!(part, Part::Host | Part::Zone);
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => false,
        b'"' | b'<' | b'>' | b'[' | b']' | b'\'' => !is_host,
        b'!' | b'(' | b')' | b'*' => !(is_host || part == Part::Fragment),
        b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match part {
            Part::Path => byte == b'?',
            Part::User => matches!(byte, b'@' | b'/' | b'?' | b':'),
            Part::Query => true,
            Part::Fragment => false,
            Part::Host | Part::Zone => matches!(byte, b'/' | b'?' | b'@'),
        },
        _ => true,
    }
}

fn escape(bytes: &[u8], part: Part) -> String {
    let mut out = String::new();
    for byte in bytes {
        match byte {
            b' ' if part == Part::Query => out.push('+'),
            byte if is_escaped(*byte, part) => write!(out, "%{byte:02X}").expect("writing to a string"),
            byte => out.push(char::from(*byte)),
        }
    }
    out
}

/// Escapes a string for a query, as `url.QueryEscape`.
pub(super) fn escape_query(bytes: &[u8]) -> String {
    escape(bytes, Part::Query)
}

fn quoted(bytes: &[u8]) -> String {
    quote(bytes, '"', Unescaped::Printable)
}

/// Decodes `%xx`; the error is Go's message.
fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let (mut out, mut index) = (Vec::new(), 0);
    let is_host = matches!(part, Part::Host | Part::Zone);
    while index < text.len() {
        let byte = text[index];
        if byte == b'%' {
            let digits = text.get(index + 1..index + 3).and_then(|digits| std::str::from_utf8(digits).ok());
            let decoded = digits
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let shown = || quoted(&text[index..text.len().min(index + 3)]);
            let Some(decoded) = decoded else { return Err(format!("invalid URL escape {}", shown())) };
            let is_percent = digits == Some("25");
            let is_refused = match part {
                Part::Host => decoded < 0x80 && !is_percent,
                Part::Zone => !is_percent && decoded != b' ' && is_escaped(decoded, Part::Host),
                _ => false,
            };
            if is_refused {
                return Err(format!("invalid URL escape {}", shown()));
            }
            out.push(decoded);
            index += 3;
            continue;
        }
        if is_host && byte < 0x80 && is_escaped(byte, part) {
            return Err(format!("invalid character {} in host name", quoted(&[byte])));
        }
        out.push(byte);
        index += 1;
    }
    Ok(out)
}

/// A parsed URL.
#[derive(Debug, Default)]
struct Url {
    scheme: Vec<u8>,
    opaque: Vec<u8>,
    /// User name and password.
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    path: Vec<u8>,
    query: Vec<u8>,
    fragment: Vec<u8>,
}

fn split_once(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == separator) {
        Some(position) => (&text[..position], Some(&text[position + 1..])),
        None => (text, None),
    }
}

fn scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
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

fn is_port(text: &[u8]) -> bool {
    text.is_empty() || (text[0] == b':' && text[1..].iter().all(u8::is_ascii_digit))
}

fn invalid_port(port: &[u8]) -> String {
    format!("invalid port {} after host", quoted(port))
}

fn host(scheme: &[u8], text: &[u8]) -> Result<Vec<u8>, String> {
    match text.iter().rposition(|byte| *byte == b'[') {
        Some(0) => {}
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {
            if let Some(first) = text.iter().position(|byte| *byte == b':') {
                let last = text.iter().rposition(|byte| *byte == b':').unwrap_or(first);
                let is_strict = matches!(scheme, b"http" | b"https");
                let port = &text[if is_strict { first } else { last }..];
                if !is_port(port) {
                    return Err(invalid_port(port));
                }
            }
            return unescape(text, Part::Host);
        }
    }
    let Some(end) = text.iter().rposition(|byte| *byte == b']') else {
        return Err("missing ']' in host".to_owned());
    };
    let (name, port) = (&text[1..end], &text[end + 1..]);
    if !is_port(port) {
        return Err(invalid_port(port));
    }
    let zone = super::strings::find(name, b"%25").unwrap_or(name.len());
    let mut address = unescape(&name[..zone], Part::Host)?;
    if std::str::from_utf8(&address).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok()) {
        return Err("invalid IP-literal".to_owned());
    }
    let is_address = std::str::from_utf8(&address).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok());
    if !is_address {
        return Err(format!("invalid host: ParseAddr({}): unable to parse IP", quoted(&address)));
    }
    address.append(&mut unescape(&name[zone..], Part::Zone)?);
    Ok([b"[", &address[..], b"]", port].concat())
}

fn authority(url: &mut Url, text: &[u8]) -> Result<(), String> {
    let Some(at) = text.iter().rposition(|byte| *byte == b'@') else {
        url.host = host(&url.scheme, text)?;
        return Ok(());
    };
    url.host = host(&url.scheme, &text[at + 1..])?;
    let user = &text[..at];
    if !user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = split_once(user, b':');
    let password = password.map(|password| unescape(password, Part::User)).transpose()?;
    url.user = Some((unescape(name, Part::User)?, password));
    Ok(())
}

/// Parses a URL without its fragment.
fn parsed(text: &[u8]) -> Result<Url, String> {
    if text.iter().any(|byte| *byte < b' ' || *byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let mut url = Url::default();
    if text == b"*" {
        url.path = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (mut rest, query) = split_once(rest, b'?');
    url.query = query.unwrap_or_default().to_vec();
    if !rest.starts_with(b"/") {
        if !url.scheme.is_empty() {
            url.opaque = rest.to_vec();
            return Ok(url);
        }
        if split_once(rest, b'/').0.contains(&b':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let has_authority = rest.starts_with(b"//") && (!url.scheme.is_empty() || !rest.starts_with(b"///"));
    if has_authority {
        let end = rest[2..].iter().position(|byte| *byte == b'/').map_or(rest.len(), |slash| slash + 2);
        authority(&mut url, &rest[2..end])?;
        rest = &rest[end..];
    }
    url.path = unescape(rest, Part::Path)?;
    Ok(url)
}

fn parse(call: &mut Call<'_>) -> Outcome {
    let text = call.string(0);
    let (main, fragment) = split_once(&text, b'#');
    let problem = |text: &[u8], message: String| {
        fail(format!("unable to parse url: parse {}: {message}", quoted(text)))
    };
    let mut url = match parsed(main) {
        Ok(url) => url,
        Err(message) => return problem(main, message),
    };
    match unescape(fragment.unwrap_or_default(), Part::Fragment) {
        Ok(fragment) => url.fragment = fragment,
        Err(message) => return problem(&text, message),
    }
    let user = url.user.as_ref().map_or_else(String::new, |(name, password)| {
        let password = password.as_ref().map(|password| format!(":{}", escape(password, Part::User)));
        format!("{}{}", escape(name, Part::User), password.unwrap_or_default())
    });
    let fields: [(&str, Vec<u8>); 8] = [
        ("hostname", hostname(&url.host).to_vec()),
        ("scheme", url.scheme),
        ("host", url.host),
        ("path", url.path),
        ("query", url.query),
        ("opaque", url.opaque),
        ("fragment", url.fragment),
        ("userinfo", user.into_bytes()),
    ];
    let entries: BTreeMap<Str, Value> =
        fields.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    Ok(Value::Map(Map::new(entries)))
}

/// Returns the host without its port and brackets.
fn hostname(host: &[u8]) -> &[u8] {
    let colon = host.iter().rposition(|byte| *byte == b':').filter(|colon| is_port(&host[*colon..]));
    let host = &host[..colon.unwrap_or(host.len())];
    host.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or(host)
}

fn join(call: &mut Call<'_>) -> Outcome {
    let map = call.map(0);
    let field = |key: &str| match map.get(key.as_bytes()) {
        None => Ok(Vec::new()),
        Some(Value::String(value)) => Ok(value.to_vec()),
        Some(Value::Nil) => fail("runtime error: invalid memory address or nil pointer dereference"),
        Some(other) => {
            fail(format!("unable to parse {key} key, must be of type string, but {} found", other.kind()))
        }
    };
    let (scheme, host, path) = (field("scheme")?, field("host")?, field("path")?);
    let (query, opaque, fragment) = (field("query")?, field("opaque")?, field("fragment")?);
    let user = user_of(&field("userinfo")?)?;
    let mut out = Vec::new();
    if !scheme.is_empty() {
        out.extend_from_slice(&scheme);
        out.push(b':');
    }
    if opaque.is_empty() {
        let has_authority = !host.is_empty() || !path.is_empty() || user.is_some();
        if (!scheme.is_empty() || !host.is_empty() || user.is_some()) && has_authority {
            out.extend_from_slice(b"//");
            if let Some(user) = user {
                out.extend_from_slice(user.as_bytes());
                out.push(b'@');
            }
            out.extend_from_slice(escape(&host, Part::Host).as_bytes());
        }
        let escaped = if path == b"*" { "*".to_owned() } else { escape(&path, Part::Path) };
        if !escaped.is_empty() && !escaped.starts_with('/') && !host.is_empty() {
            out.push(b'/');
        }
        if out.is_empty() && escaped.split('/').next().is_some_and(|segment| segment.contains(':')) {
            out.extend_from_slice(b"./");
        }
        out.extend_from_slice(escaped.as_bytes());
    } else {
        out.extend_from_slice(&opaque);
    }
    if !query.is_empty() {
        out.push(b'?');
        out.extend_from_slice(&query);
    }
    if !fragment.is_empty() {
        out.push(b'#');
        out.extend_from_slice(escape(&fragment, Part::Fragment).as_bytes());
    }
    Ok(out.into())
}

/// Returns the escaped user of a URL.
fn user_of(text: &[u8]) -> Result<Option<String>, Failure> {
    if text.is_empty() {
        return Ok(None);
    }
    let url = [b"proto://", text, b"@host"].concat();
    match parsed(split_once(&url, b'#').0) {
        Ok(url) => Ok(url.user.map(|(name, password)| {
            let password = password.map(|password| format!(":{}", escape(&password, Part::User)));
            escape(&name, Part::User) + &password.unwrap_or_default()
        })),
        Err(message) => fail(format!(
            "unable to parse userinfo in dict: parse {}: {message}",
            quoted(split_once(&url, b'#').0)
        )),
    }
}
