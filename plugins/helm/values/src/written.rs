//! Values in the block of an Application: how Argo CD hands on what is written, what helm has of it, and how a text is written.

#[cfg(test)]
mod tests;

use crate::merge::{Assignment, Flag, Inputs, merged, no_files};
use crate::{HelmVersion, LIMITS, Value};

/// A name for values whose own name does not matter.
const ANY_NAME: &str = "value";

/// `NAME=VALUE` with the value's commas escaped as Argo CD does: none in `{…}`, which is a list, and none behind a backslash
/// (its `cleanSetParameters`).
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

/// What helm has of a value that Argo CD hands on with this option; `None` if helm refuses it, or sets more than one value by it.
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

/// How a text is written so that helm has exactly it, once Argo CD has handed it on. With `--set` the text may still be taken for a
/// number, a boolean or `null`.
pub fn escape_text(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    if text.starts_with('{') {
        written.push('\\');
    }
    let mut before = '\0';
    for char in text.chars() {
        // Other commas are escaped on their way, but one behind a backslash is taken for one that is already.
        if char == '\\' || (char == ',' && before == '\\') {
            written.push('\\');
        }
        written.push(char);
        before = char;
    }
    written
}
