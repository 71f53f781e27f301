//! Commands and texts as logs and errors show them.

use std::fmt::Write as _;

/// A command as logs and errors show it (`spec/cmp.md` 6.3): arguments joined by blanks, those with white space quoted as Go's `%q` does, empty ones as `""`.
pub fn quote_command(argv: &[String]) -> String {
    let mut text = String::new();
    for (index, argument) in argv.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        if argument.is_empty() || argument.contains(char::is_whitespace) {
            quote_as_go(argument, &mut text);
        } else {
            text.push_str(argument);
        }
    }
    text
}

/// A text in double quotes, as Go's `strconv.Quote` has it.
pub fn quote_text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quote_as_go(text, &mut quoted);
    quoted
}

fn quote_as_go(argument: &str, text: &mut String) {
    text.push('"');
    for char in argument.chars() {
        match char {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{7}' => text.push_str("\\a"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{b}' => text.push_str("\\v"),
            char if is_printable(char) => text.push(char),
            char => {
                let code = u32::from(char);
                let written = match code {
                    0..0x20 | 0x7f => write!(text, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(text, "\\u{code:04x}"),
                    _ => write!(text, "\\U{code:08x}"),
                };
                debug_assert!(written.is_ok(), "a String takes every text");
            }
        }
    }
    text.push('"');
}

/// Letters, marks, numbers, punctuation, symbols and the ASCII blank, as Go's `unicode.IsPrint` has it.
///
/// The standard library knows them for its debug output, but escapes a combining mark at the beginning of a text; hence the letter before it.
fn is_printable(char: char) -> bool {
    matches!(char, '\'' | '"' | '\\') || {
        let mut text = String::from("a");
        text.push(char);
        text.escape_debug().eq(text.chars())
    }
}

#[cfg(test)]
mod tests;
