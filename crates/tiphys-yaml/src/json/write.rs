//! Writing JSON byte for byte as Go's `json.Marshal` does.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::{Data, Entry, Node};

/// Writes a value as Go's `json.Marshal` writes a map: compact, keys sorted by bytes, `<`, `>`, `&`, U+2028 and U+2029 escaped, floats in
/// Go's shortest form.
pub fn write_go_json(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// Appends a string as JSON with Go's escapes.
pub fn write_go_string(out: &mut String, text: &str) {
    out.push('"');
    let mut written = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0C => "\\f",
            b'<' => "\\u003c",
            b'>' => "\\u003e",
            b'&' => "\\u0026",
            0..0x20 => "",
            // The first of three bytes. U+2028 and U+2029 end lines in JavaScript.
            0xE2 => match text.get(index..index + 3) {
                Some("\u{2028}") => "\\u2028",
                Some("\u{2029}") => "\\u2029",
                _ => continue,
            },
            _ => continue,
        };
        out.push_str(text.get(written..index).unwrap_or_default());
        if escaped.is_empty() {
            push_format(out, format_args!("\\u{byte:04x}"));
        } else {
            out.push_str(escaped);
        }
        written = index + if byte == 0xE2 { 3 } else { 1 };
    }
    out.push_str(text.get(written..).unwrap_or_default());
    out.push('"');
}

/// How nodes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As Go's `json.Marshal`.
    Go,
    /// Numbers as in the document, and no unnecessary escapes.
    Written,
}

/// Appends a node with sorted keys, using the last of duplicate ones.
pub(crate) fn write_node(out: &mut String, node: &Node, form: Form) {
    match &node.data {
        Data::Null => out.push_str("null"),
        Data::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Data::Integer(value) => push_format(out, format_args!("{value}")),
        Data::Unsigned(value) => push_format(out, format_args!("{value}")),
        Data::Float(value) if form == Form::Written => out.push_str(&value.as_written()),
        Data::Float(value) => out.push_str(&float_text(value.value())),
        Data::String(text) => write_string(out, text, form),
        Data::Sequence(items) => write_list(out, items, |out, item| write_node(out, item, form)),
        Data::Mapping(entries) => {
            let mut sorted: Vec<&Entry> = entries.iter().collect();
            // The sort is stable, so the last of equal keys is the last in the document.
            sorted.sort_by(|a, b| a.key.text.cmp(&b.key.text));
            let mut rest = sorted.iter().peekable();
            let mut lasts = Vec::with_capacity(sorted.len());
            while let Some(entry) = rest.next() {
                if rest.peek().is_none_or(|next| next.key.text != entry.key.text) {
                    lasts.push((entry.key.text.as_str(), &entry.value));
                }
            }
            write_object(out, &lasts, form, |out, value| write_node(out, value, form));
        }
    }
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_go_string(out, text),
        Value::Array(items) => write_list(out, items, write_value),
        Value::Object(map) => {
            let mut entries: Vec<(&str, &Value)> =
                map.iter().map(|(key, value)| (key.as_str(), value)).collect();
            // A feature of serde_json that any crate may enable keeps keys in insertion order.
            entries.sort_unstable_by_key(|(key, _)| *key);
            write_object(out, &entries, Form::Go, write_value);
        }
    }
}

fn write_string(out: &mut String, text: &str, form: Form) {
    match form {
        Form::Go => write_go_string(out, text),
        Form::Written => push_format(out, format_args!("{}", Value::from(text))),
    }
}

fn write_list<T>(out: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

fn write_object<T>(out: &mut String, entries: &[(&str, &T)], form: Form, write: impl Fn(&mut String, &T)) {
    out.push('{');
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, key, form);
        out.push(':');
        write(out, value);
    }
    out.push('}');
}

fn write_number(out: &mut String, number: &Number) {
    match number.as_f64() {
        Some(value) if number.is_f64() => out.push_str(&float_text(value)),
        _ => push_format(out, format_args!("{number}")),
    }
}

/// Formats a float as Go's `json.Marshal` does: the shortest decimal that parses to the same value, with an exponent below 1e-6 and from
/// 1e21. Infinity and NaN have no JSON representation and become `null`.
pub(crate) fn float_text(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "null".to_owned();
    }
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return with_even_tie(value, value.to_string(), |text| text.parse() == Ok(value));
    }
    let text = with_even_tie(value, format!("{value:e}"), |text| text.parse() == Ok(value));
    // Go writes the sign of a positive exponent too.
    if size >= 1e21 { text.replace('e', "e+") } else { text }
}

/// If two shortest decimals are equally near, Go chooses the one with the even last digit; the standard library may choose either.
/// `reads_back` returns whether a decimal parses to the value.
pub(crate) fn with_even_tie(value: f64, shortest: String, reads_back: impl Fn(&str) -> bool) -> String {
    /// Number of digits to check after a 5. If they are zeros, all further digits are.
    const EXACT_DIGITS: usize = 30;
    let (mantissa, exponent) = match shortest.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (shortest.as_str(), None),
    };
    // A tie is half a unit of the last digit away, so that digit is before the decimal point or in the formatted fraction.
    let is_odd = mantissa.ends_with(['1', '3', '5', '7', '9']);
    let Some((_, fraction)) = mantissa.split_once('.').filter(|_| is_odd) else { return shortest };
    let exact = match exponent {
        Some(_) => format!("{value:.*e}", fraction.len() + EXACT_DIGITS),
        None => format!("{value:.*}", fraction.len() + EXACT_DIGITS),
    };
    let end = mantissa.len();
    let (Some(truncated), Some(rest)) = (exact.get(..end), exact.get(end..)) else { return shortest };
    let rest = rest.split_once('e').map_or(rest, |(digits, _)| digits);
    let is_tie =
        rest.starts_with('5') && rest.get(1..).is_some_and(|zeros| zeros.bytes().all(|digit| digit == b'0'));
    if !is_tie || truncated == mantissa {
        return shortest;
    }
    let even = match exponent {
        Some(exponent) => format!("{truncated}e{exponent}"),
        None => truncated.to_owned(),
    };
    if reads_back(&even) { even } else { shortest }
}

fn push_format(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(arguments);
    debug_assert!(written.is_ok(), "writing to a string does not fail");
}
