//! Writing YAML for users and for `kubectl`.

pub(crate) mod style;

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::json::float_text;
use style::{Indentation, Style};

/// Indentation of a nested object in columns. A list is not indented below its key.
const STEP_COLUMNS: usize = 2;

/// The maximum length in bytes of a key without `?`. Parsers look for the colon within 1,024 characters only.
const SIMPLE_KEY_BYTES_MAX: usize = 128;

/// Writes a value as block YAML with sorted keys, without a document marker, with a final newline. Every string that a YAML 1.1 or 1.2
/// parser would not read as a string is quoted.
pub fn write_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => write_object(&mut out, map, 0),
        Value::Array(items) if !items.is_empty() => write_list(&mut out, items, 0),
        Value::String(text) => {
            // An indentation indicator at the top level means different things in YAML 1.1 and 1.2.
            let style = match Style::of(text) {
                Style::Literal { counted: true } => Style::DoubleQuoted,
                style => style,
            };
            style::write_text(&mut out, text, style, inside(0));
            out.push('\n');
        }
        flat => {
            write_flat(&mut out, flat, 0);
            out.push('\n');
        }
    }
    out
}

/// Writes an object. The first key is appended to the output; the others are indented to `column`.
fn write_object(out: &mut String, map: &Map<String, Value>, column: usize) {
    let mut entries: Vec<(&str, &Value)> = map.iter().map(|(key, value)| (key.as_str(), value)).collect();
    // A feature of serde_json that any crate may enable keeps keys in insertion order.
    entries.sort_unstable_by_key(|(key, _)| *key);
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            indent(out, column);
        }
        write_key(out, key, column);
        match value {
            Value::Object(map) if !map.is_empty() => {
                out.push('\n');
                indent(out, column + STEP_COLUMNS);
                write_object(out, map, column + STEP_COLUMNS);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                indent(out, column);
                write_list(out, items, column);
            }
            flat => {
                out.push(' ');
                write_flat(out, flat, column);
                out.push('\n');
            }
        }
    }
}

/// Writes a list. The first dash is appended to the output; the others are indented to `column`.
fn write_list(out: &mut String, items: &[Value], column: usize) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            indent(out, column);
        }
        out.push_str("- ");
        match item {
            Value::Object(map) if !map.is_empty() => write_object(out, map, column + STEP_COLUMNS),
            Value::Array(items) if !items.is_empty() => write_list(out, items, column + STEP_COLUMNS),
            flat => {
                write_flat(out, flat, column);
                out.push('\n');
            }
        }
    }
}

fn write_key(out: &mut String, key: &str, column: usize) {
    // A key is always written in one line.
    let style = match Style::of(key) {
        Style::Literal { .. } => Style::DoubleQuoted,
        style => style,
    };
    if key.len() > SIMPLE_KEY_BYTES_MAX {
        out.push_str("? ");
        style::write_text(out, key, style, inside(column));
        out.push('\n');
        indent(out, column);
    } else {
        style::write_text(out, key, style, inside(column));
    }
    out.push(':');
}

/// Writes a value that fits behind a key or a dash. `column` is that of the surrounding object or list.
fn write_flat(out: &mut String, value: &Value, column: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() => out.push_str(&float_text(value)),
            _ => {
                let written = write!(out, "{number}");
                debug_assert!(written.is_ok(), "writing to a string does not fail");
            }
        },
        Value::String(text) => style::write_text(out, text, Style::of(text), inside(column)),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

fn inside(column: usize) -> Indentation {
    Indentation { parent: column, step: STEP_COLUMNS }
}

fn indent(out: &mut String, columns: usize) {
    out.extend(std::iter::repeat_n(' ', columns));
}

#[cfg(test)]
mod tests;
