//! Values of `--set-json`: one JSON value at the start of the rest, as Go's stream decoder reads it.

use super::SetError;
use crate::Value;
use crate::scan::Scanner;

/// Reads a value, surrounding white space, and a comma. An empty value is null.
pub(super) fn value(scanner: &mut Scanner<'_>) -> Result<Value, SetError> {
    if skip_blanks_and_comma(scanner) {
        return Ok(Value::Null);
    }
    let text = scanner.take_bytes(length(scanner.rest()));
    let value = Value::from_json(text).map_err(|error| SetError::Json { problem: error.to_string() })?;
    skip_blanks_and_comma(scanner);
    Ok(value)
}

/// Reads white space and a comma. Returns whether the assignment ends here.
fn skip_blanks_and_comma(scanner: &mut Scanner<'_>) -> bool {
    scanner.skip_blanks();
    scanner.rest().is_empty() || scanner.take(',')
}

/// Returns the length of the value at the start in bytes. For invalid JSON, the length makes parsing fail.
fn length(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    let length = match first {
        '{' | '[' => nested(text),
        '"' => string(text),
        '-' | '0'..='9' => Some(number(text)),
        _ => ["true", "false", "null"].into_iter().find(|word| text.starts_with(word)).map(str::len),
    };
    length.unwrap_or(text.len())
}

/// Returns the length of a list or object: up to the bracket that closes the first, of either kind.
fn nested(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        match rest.bytes().next()? {
            b'"' => {
                at += string(rest)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += rest.chars().next()?.len_utf8();
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the length of a string with its quotes.
fn string(text: &str) -> Option<usize> {
    let mut escaped = true; // the first quote does not end the string
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return Some(at + 1),
            b'\\' if !escaped => escaped = true,
            _ => escaped = false,
        }
    }
    None
}

/// Returns the length of a number. A point or an exponent without digits is part of it and makes it invalid.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        from + bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(text.starts_with('-'));
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits(at) };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at = digits(at);
    }
    at
}
