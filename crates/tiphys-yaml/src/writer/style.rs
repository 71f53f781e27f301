//! Choosing a scalar style in which every YAML parser reads the same string.

use std::fmt::Write as _;

use crate::scalar::{is_text_when_plain, is_yaml_float};

/// The styles of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// Literal block scalar (`|`). `counted`: the first line begins with a blank, so an indentation indicator is required.
    Literal {
        counted: bool,
    },
}

impl Style {
    pub(crate) fn of(text: &str) -> Self {
        if text.is_empty() {
            return Self::SingleQuoted;
        }
        if text.contains('\n') {
            let literal =
                text.chars().all(|character| character == '\n' || character == '\t' || is_visible(character))
                    && text.contains(|character| !matches!(character, ' ' | '\t' | '\n'));
            return if literal {
                Self::Literal { counted: text.starts_with([' ', '\t', '\n']) }
            } else {
                Self::DoubleQuoted
            };
        }
        if !text.chars().all(is_visible) {
            Self::DoubleQuoted
        } else if is_plain(text) {
            Self::Plain
        } else {
            Self::SingleQuoted
        }
    }
}

/// The indentation of a literal: `step` columns (1 to 9) relative to the surrounding list or object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indentation {
    pub(crate) parent: usize,
    pub(crate) step: usize,
}

/// Appends a string, without the line break after the last line of a literal.
pub(crate) fn write_text(out: &mut String, text: &str, style: Style, indentation: Indentation) {
    match style {
        Style::Plain => out.push_str(text),
        Style::SingleQuoted => {
            out.push('\'');
            out.push_str(&text.replace('\'', "''"));
            out.push('\'');
        }
        Style::DoubleQuoted => write_double_quoted(out, text, Escapes::Yaml),
        Style::Literal { counted } => {
            out.push('|');
            if counted {
                // The indicator is relative to the surrounding collection.
                out.push_str(&indentation.step.to_string());
            }
            let content = text.trim_end_matches('\n');
            match text.len() - content.len() {
                0 => out.push('-'),
                1 => {}
                _ => out.push('+'),
            }
            for line in content.split('\n') {
                out.push('\n');
                if !line.is_empty() {
                    out.extend(std::iter::repeat_n(' ', indentation.parent + indentation.step));
                    out.push_str(line);
                }
            }
            // The caller adds the last line break.
            out.extend(std::iter::repeat_n('\n', (text.len() - content.len()).saturating_sub(1)));
        }
    }
}

/// The escapes that are used between double quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// All short escapes of YAML.
    Yaml,
    /// Only the escapes of JSON.
    Json,
}

/// Appends a string in double quotes. Only characters that require it are escaped.
pub(crate) fn write_double_quoted(out: &mut String, text: &str, escapes: Escapes) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_visible(character) => out.push(character),
            _ => {
                let code = u32::from(character);
                // Everything above U+FFFF is visible.
                let written = match (escapes, code) {
                    (Escapes::Json, _) => write!(out, "\\u{code:04x}"),
                    (Escapes::Yaml, 0) => write!(out, "\\0"),
                    (Escapes::Yaml, 1..=0xFF) => write!(out, "\\x{code:02X}"),
                    (Escapes::Yaml, _) => write!(out, "\\u{code:04X}"),
                };
                debug_assert!(written.is_ok(), "writing to a string does not fail");
            }
        }
    }
    out.push('"');
}

/// Returns whether a character needs no escape: it is not a control character, line break of YAML 1.1, byte-order mark or noncharacter.
fn is_visible(character: char) -> bool {
    const BREAKS_AND_MARKS: [char; 5] = ['\u{2028}', '\u{2029}', '\u{FEFF}', '\u{FFFE}', '\u{FFFF}'];
    matches!(character, ' '..='~' | '\u{A0}'..) && !BREAKS_AND_MARKS.contains(&character)
}

/// Returns whether a string of visible characters needs no quotes, even in a flow collection.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let begins_well = match first {
        b'-' => {
            bytes.get(1).is_some_and(|next| !matches!(next, b' ' | b'-'))
                || text.starts_with("--") && bytes.get(2).is_some_and(|next| !matches!(next, b'-' | b' '))
        }
        b' ' | b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>'
        | b'\'' | b'"' | b'%' | b'@' | b'`' | b'=' | b'<' => false,
        b'.' => !text.starts_with("..."),
        _ => true,
    };
    let pairs_are_harmless = !bytes.windows(2).any(|pair| matches!(pair, b": " | b" #"));
    begins_well
        && !matches!(last, b' ' | b':')
        && !bytes.iter().any(|byte| matches!(byte, b',' | b'[' | b']' | b'{' | b'}'))
        && pairs_are_harmless
        && is_text_when_plain(text)
        && !is_word(text)
        && !looks_like_number(text)
        && !looks_like_date(text)
}

/// Returns whether some parser reads the word as a boolean, null or number, in any letter case.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 14] =
        ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", ".inf", "+.inf", "-.inf", ".nan"];
    text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns whether a YAML 1.1 or 1.2 parser reads the string as a number: with underscores or commas between digits, out of range, octal in
/// either notation, base 60.
fn looks_like_number(text: &str) -> bool {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return false;
    }
    let digits = text.replace(['_', ','], "");
    if is_yaml_float(&digits) || !is_text_when_plain(&digits) {
        return true;
    }
    let unsigned = digits.trim_start_matches(['+', '-']);
    let based = ["0x", "0o", "0b", "0X", "0O", "0B"].iter().any(|prefix| {
        unsigned
            .strip_prefix(prefix)
            .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    let base_60 = unsigned.contains(':')
        && unsigned.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
    based || base_60
}

/// Returns whether the string begins with a date such as `2001-12-14`, alone or before a time.
fn looks_like_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_number = |part: &str, digits: std::ops::RangeInclusive<usize>| {
        digits.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let day = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    is_number(year, 4..=4)
        && is_number(month, 1..=2)
        && day > 0
        && matches!(rest.as_bytes().get(day), None | Some(b'T' | b't' | b' '))
}
