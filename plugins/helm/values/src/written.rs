//! Values in an Application: how Argo CD passes them on, how Helm interprets them, and how to write a string.

#[cfg(test)]
mod tests;

use crate::merge::{Assignment, Flag, Inputs, merged, no_files};
use crate::{HelmVersion, LIMITS, Value};

/// Any name of a value.
const ANY_NAME: &str = "value";

/// Returns `NAME=VALUE` with the value's commas escaped as in Argo CD's `cleanSetParameters`: none in `{…}`, which is a list, and none
/// after a backslash.
pub fn assignment_text(name: &str, value: &str) -> String {
    let mut text = format!("{name}=");
    if value.starts_with('{') && value.ends_with('}') {
        text.push_str(value);
        return text;
    }
    let mut before = '\0';
    for char in value.chars() {
        if char == ',' && before != '\\' {
            text.push('\\');
        }
        text.push(char);
        before = char;
    }
    text
}

/// Returns Helm's interpretation of a value that Argo CD passes with this option; `None` if Helm rejects it, or it sets several values.
pub fn held_value(flag: Flag, written: &str) -> Option<Value> {
    let text = assignment_text(ANY_NAME, written);
    let mut values = merged(&Inputs {
        version: HelmVersion::V4,
        values_files: &[],
        assignments: &[Assignment { flag, text: &text }],
        read_file: &no_files,
        limits: LIMITS,
    })
    .ok()?;
    let value = values.remove(ANY_NAME)?;
    values.is_empty().then_some(value)
}

/// Escapes a string so that Helm gets exactly it from Argo CD. With `--set`, the string may still be a number, a boolean or `null`.
pub fn escape_text(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    if text.starts_with('{') {
        written.push('\\');
    }
    let mut before = '\0';
    for char in text.chars() {
        // Argo CD escapes other commas, but takes a comma after a backslash for an escaped one.
        if char == '\\' || (char == ',' && before == '\\') {
            written.push('\\');
        }
        written.push(char);
        before = char;
    }
    written
}
