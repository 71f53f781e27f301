//! Whether a text is a URL, as Go's `url.Parse` decides it.

/// The scheme of a text that is a URL, in lower case. None for a text without a scheme, and for one that Go cannot parse: Argo CD takes both
/// for paths.
pub(super) fn scheme(text: &str) -> Option<String> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return None;
    }
    let text = match text.split_once('#') {
        Some((before, fragment)) if has_good_escapes(fragment) => before,
        Some(_) => return None,
        None => text,
    };
    let colon = text.find(':')?;
    let scheme = &text[..colon];
    let mut bytes = scheme.bytes();
    let is_scheme = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if !is_scheme {
        return None;
    }
    let rest = text[colon + 1..].split('?').next().unwrap_or_default();
    let is_good = match rest.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            is_authority(authority) && has_good_escapes(path)
        }
        None if rest.starts_with('/') => has_good_escapes(rest),
        // Nothing of an opaque URL is looked at.
        None => true,
    };
    is_good.then(|| scheme.to_ascii_lowercase())
}

/// `user:password@host:port`.
fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let is_user = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    user.bytes().all(is_user) && has_good_escapes(user) && is_host(host)
}

fn is_host(text: &str) -> bool {
    if text.starts_with('[') {
        let Some(end) = text.rfind(']') else { return false };
        return is_port(&text[end + 1..]);
    }
    let is_port = match text.rfind(':') {
        Some(colon) => is_port(&text[colon..]),
        None => true,
    };
    is_port && !text.contains(['%', ' ', '^', '|', '\\', '{', '}', '`'])
}

/// Nothing, or a colon and digits.
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether two hexadecimal digits follow each `%`.
fn has_good_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%').all(|(at, _)| {
        bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}
