//! Quotes and escapes arguments and strings for shells, logs and errors.

use std::fmt::Write as _;

/// Quotes an argument for a POSIX shell if it has characters that a shell may interpret.
pub fn quote_argument(argument: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !argument.is_empty() && argument.bytes().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// Escapes what could control a terminal, hide or reorder text, or be a command of a CI system: [control characters](is_control_character)
/// except line breaks and tabs, `::` at the beginning of a line, and `##NAME[`.
///
/// GitHub Actions accepts `::error::` also after white space ([workflow
/// commands](https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands)). It finds the older form `##[error]`,
/// and Azure Pipelines finds `##vso[…]` ([logging
/// commands](https://learn.microsoft.com/en-us/azure/devops/pipelines/scripts/logging-commands)), anywhere in a line.
pub fn escape_text(text: &str) -> String {
    escaped(text, |char, text| text.extend(char.escape_unicode()))
}

/// Like [`escape_text`] for a JSON document: the escapes are those of JSON strings, so the value does not change.
pub fn escape_json(text: &str) -> String {
    escaped(text, |char, text| {
        let written = write!(text, "\\u{:04x}", u32::from(char));
        debug_assert!(written.is_ok(), "writing to a String cannot fail");
    })
}

fn escaped(text: &str, escape: impl Fn(char, &mut String)) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut is_line_start = true;
    for (index, char) in text.char_indices() {
        let is_command = match char {
            ':' => is_line_start && text[index..].starts_with("::"),
            '#' => starts_ci_command(&text[index..]),
            _ => false,
        };
        if is_command || is_control_character(char) && !matches!(char, '\n' | '\t') {
            escape(char, &mut escaped);
        } else {
            escaped.push(char);
        }
        is_line_start = char == '\n' || is_line_start && char.is_whitespace();
    }
    escaped
}

/// Whether a character is a control character, a line or paragraph separator, or sets the direction of text ([UAX
/// #9](https://www.unicode.org/reports/tr9/)).
pub fn is_control_character(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a string begins with `##[`, `##vso[` or similar.
fn starts_ci_command(text: &str) -> bool {
    text.strip_prefix("##")
        .is_some_and(|text| text.trim_start_matches(|char: char| char.is_ascii_alphabetic()).starts_with('['))
}

#[cfg(test)]
mod tests;
