//! `$NAME` and `${NAME}` in a text, by the rules of Go's `os.Expand` (`spec/cmp.md` 4.2 and 14).

/// Replaces variables. `lookup` gives a variable's value; what it does not know becomes nothing. `$$` is a dollar sign.
///
/// A name is `[A-Za-z0-9_]*`, one of `*#$@!?-0123456789`, or anything between braces. `${}` and an unclosed `${` vanish, but
/// for the text behind the latter; a dollar sign before anything else stays.
pub fn expand<'a>(text: &str, lookup: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut expanded = String::with_capacity(text.len());
    // Looked up once, so that many braces that are not closed take no square of their number.
    let last_closing_brace = text.rfind('}');
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        expanded.push_str(&rest[..dollar]);
        rest = &rest[dollar + 1..];
        if rest.is_empty() {
            expanded.push('$');
            break;
        }
        let is_closed = last_closing_brace.is_some_and(|at| at >= text.len() - rest.len());
        let (reference, length) = reference(rest, is_closed);
        match reference {
            Reference::Name("$") | Reference::Nothing => expanded.push('$'),
            Reference::Name(name) => expanded.push_str(lookup(name).unwrap_or_default()),
            Reference::Broken => {}
        }
        rest = &rest[length..];
    }
    expanded.push_str(rest);
    expanded
}

/// What stands behind a dollar sign.
enum Reference<'a> {
    /// A variable.
    Name(&'a str),
    /// Nothing that could be a name: the dollar sign is a text.
    Nothing,
    /// Braces without a name, or an opening brace alone: they are dropped.
    Broken,
}

/// Reads what stands behind a dollar sign, which is something, and how many bytes of it belong to the reference.
/// `is_closed`: it holds a closing brace.
fn reference(rest: &str, is_closed: bool) -> (Reference<'_>, usize) {
    let bytes = rest.as_bytes();
    if bytes[0] == b'{' {
        // A special name may be the closing brace's neighbour only; `${*}` is one, `${*x}` is an ordinary name.
        let closing = if is_closed { rest.find('}') } else { None };
        return match closing {
            None => (Reference::Broken, 1),
            Some(1) => (Reference::Broken, 2),
            Some(end) => (Reference::Name(&rest[1..end]), end + 1),
        };
    }
    if is_special(bytes[0]) {
        return (Reference::Name(&rest[..1]), 1);
    }
    match bytes.iter().position(|&byte| !is_name_byte(byte)).unwrap_or(bytes.len()) {
        0 => (Reference::Nothing, 0),
        end => (Reference::Name(&rest[..end]), end),
    }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'#' | b'$' | b'@' | b'!' | b'?' | b'-' | b'0'..=b'9')
}

fn is_name_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests;
