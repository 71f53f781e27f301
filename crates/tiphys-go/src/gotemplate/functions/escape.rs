//! Escaping functions of the language: `html`, `js`, `urlquery`.

use std::fmt::Write as _;

use super::{Call, Failure, Function, Outcome, Type};
use crate::gotemplate::format;
use crate::gotemplate::unicode::{characters, is_print};
use crate::gotemplate::value::Value;
use crate::url::{UrlPart, escape};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("html", &[], html).and(Type::Any),
    Function::new("js", &[], js).and(Type::Any),
    Function::new("urlquery", &[], |call| {
        let input = input(call)?;
        Ok(escape(&input, UrlPart::Query).into())
    })
    .and(Type::Any),
];

/// Returns the arguments as one string.
fn input(call: &mut Call<'_>) -> Result<Vec<u8>, Failure> {
    let no_value = |value| if matches!(value, Value::Nil) { "<no value>".into() } else { value };
    let values: Vec<Value> = call.values(0).into_iter().map(no_value).collect();
    format::print(call.budget(), &values)
}

fn html(call: &mut Call<'_>) -> Outcome {
    let mut out = Vec::new();
    for byte in input(call)? {
        match byte {
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            byte => out.push(byte),
        }
    }
    Ok(out.into())
}

fn js(call: &mut Call<'_>) -> Outcome {
    Ok(escaped_js(&input(call)?).into())
}

fn escaped_js(input: &[u8]) -> String {
    let mut out = String::new();
    for (_, c, _) in characters(input) {
        match c {
            '\\' | '\'' | '"' => {
                out.push('\\');
                out.push(c);
            }
            '<' | '>' | '&' | '=' => write!(out, "\\u{:04X}", u32::from(c)).expect("writing to a string"),
            c if c < ' ' || (!c.is_ascii() && !is_print(c)) => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("writing to a string");
            }
            c => out.push(c),
        }
    }
    out
}
