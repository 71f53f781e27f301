//! Quotes strings as Go's package `strconv` does.

use std::fmt::Write as _;

use crate::gotemplate::unicode::{ERROR, characters, is_print};

/// Which characters a quoted string contains unescaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unescaped {
    /// Those that `unicode.IsPrint` accepts.
    Printable,
    /// ASCII only.
    Ascii,
}

/// Quotes a string as [`strconv.Quote`](https://pkg.go.dev/strconv#Quote) and `%q`.
pub fn quote(text: impl AsRef<[u8]>) -> String {
    quote_with(text.as_ref(), '"', Unescaped::Printable)
}

/// Quotes a character as [`strconv.QuoteRune`](https://pkg.go.dev/strconv#QuoteRune) and `%q`.
pub fn quote_char(c: char) -> String {
    quote_with(c.encode_utf8(&mut [0; 4]).as_bytes(), '\'', Unescaped::Printable)
}

/// Quotes a string in the given quotes.
pub(crate) fn quote_with(bytes: &[u8], quote: char, unescaped: Unescaped) -> String {
    let mut out = String::from(quote);
    for (position, c, length) in characters(bytes) {
        if c == ERROR && length == 1 {
            write!(out, "\\x{:02x}", bytes[position]).expect("writing to a string");
            continue;
        }
        escape(&mut out, c, quote, unescaped);
    }
    out.push(quote);
    out
}

fn escape(out: &mut String, c: char, quote: char, unescaped: Unescaped) {
    let escaped = match c {
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0b' => 'v',
        c if c == quote || c == '\\' => c,
        c if is_print(c) && (c.is_ascii() || unescaped == Unescaped::Printable) => {
            out.push(c);
            return;
        }
        c => {
            let number = u32::from(c);
            let written = match number {
                0..0x20 | 0x7f => write!(out, "\\x{number:02x}"),
                0..0x10000 => write!(out, "\\u{number:04x}"),
                _ => write!(out, "\\U{number:08x}"),
            };
            written.expect("writing to a string");
            return;
        }
    };
    out.push('\\');
    out.push(escaped);
}

#[cfg(test)]
mod tests;
