//! YAML for people and for `kubectl`.

pub(crate) mod style;

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::json::float_text;
use style::{Indentation, Style};

/// How much deeper an object stands than what it is in, in columns. A list stands below its key without any.
const STEP_COLUMNS: usize = 2;

/// A key with more bytes than this gets a line of its own: readers look no further than 1,024 characters for the colon.
const SIMPLE_KEY_BYTES_MAX: usize = 128;

/// Writes a value as block YAML, keys sorted, without a document marker, with a final newline.
/// Every text that a YAML 1.1 or 1.2 reader would take for something else is quoted.
pub fn write_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => write_object(&mut out, map, 0),
        Value::Array(items) if !items.is_empty() => write_list(&mut out, items, 0),
        Value::String(text) => {
            // An indentation that is counted from nothing is read differently by YAML 1.1 and 1.2.
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

/// Writes an object whose first key stands at the end of what is written; the others go to `column`.
fn write_object(out: &mut String, map: &Map<String, Value>, column: usize) {
    let mut entries: Vec<(&str, &Value)> = map.iter().map(|(key, value)| (key.as_str(), value)).collect();
    // A feature of serde_json that any crate may turn on keeps keys in the order of insertion.
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

/// Writes a list whose first dash stands at the end of what is written; the others go to `column`.
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
    // A key is written in one line, whatever is in it.
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

/// Writes what fits behind a key or a dash; `column` is that of the object or list it is in.
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
