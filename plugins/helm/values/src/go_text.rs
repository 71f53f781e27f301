//! Parses and formats strings as Go does, where Helm's errors and types depend on it.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

/// Quotes a string as Go's `%q` does.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    text.chars().for_each(|char| push_escaped(&mut out, char, '"'));
    out.push('"');
    out
}

/// Quotes a list of characters as Go's `%q` does: `['a' 'b']`.
pub(crate) fn quoted_characters(text: &str) -> String {
    let mut out = String::from("[");
    for (index, char) in text.chars().enumerate() {
        out.push_str(if index > 0 { " '" } else { "'" });
        push_escaped(&mut out, char, '\'');
        out.push('\'');
    }
    out.push(']');
    out
}

fn push_escaped(out: &mut String, char: char, quote: char) {
    let escape = match char {
        '\\' => '\\',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{b}' => 'v',
        char if char == quote => quote,
        char if is_printable(char) => return out.push(char),
        char => {
            let code = u32::from(char);
            let written = match code {
                0..0x20 | 0x7f => write!(out, "\\x{code:02x}"),
                0x80..0x1_0000 => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
            debug_assert!(written.is_ok(), "writing to a String succeeds");
            return;
        }
    };
    out.extend(['\\', escape]);
}

/// Letters, marks, numbers, punctuation, symbols and the ASCII space, as in Go's `unicode.IsPrint`.
///
/// Rust's debug output uses the same set, but escapes a combining mark at the start of a string; hence the letter before it. Quotes and the
/// backslash are escaped for another reason.
fn is_printable(char: char) -> bool {
    matches!(char, '\'' | '"' | '\\') || {
        let text: String = ['a', char].iter().collect();
        text.escape_debug().eq(text.chars())
    }
}

/// Errors of parsing an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotANumber {
    /// Invalid syntax.
    Syntax,
    /// Outside the range of a signed 64-bit integer.
    Range,
}

/// Parses a decimal integer like Go's `strconv.Atoi`: from left to right, so the first of two errors counts.
pub(crate) fn whole_number(text: &str) -> Result<i64, NotANumber> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    if digits.is_empty() {
        return Err(NotANumber::Syntax);
    }
    let mut size = 0_u64;
    for char in digits.chars() {
        let digit = char.to_digit(10).ok_or(NotANumber::Syntax)?;
        size = size
            .checked_mul(10)
            .and_then(|size| size.checked_add(u64::from(digit)))
            .ok_or(NotANumber::Range)?;
    }
    let number = if negative { 0_i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() };
    number.ok_or(NotANumber::Range)
}

/// Whether a string equals this lower-case ASCII word without `k`, with Unicode case folding, where `ſ` is an `s` (Go's `EqualFold`).
pub(crate) fn is_word(text: &str, word: &str) -> bool {
    let folded = text.chars().map(|char| match char {
        'ſ' => 's',
        char => char.to_ascii_lowercase(),
    });
    folded.eq(word.chars())
}
