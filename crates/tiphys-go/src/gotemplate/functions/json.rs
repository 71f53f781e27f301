//! JSON.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tiphys_yaml::{Data, Node, read_json_as_any, write_go_json, write_go_string};

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::limits::Budget;
use crate::gotemplate::value::{List, Map, Str, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::any("fromJson", &[Type::String], |call| {
        let (value, _) = parsed(call)?;
        Ok(value)
    }),
    Function::any("mustFromJson", &[Type::String], |call| match parsed(call)? {
        (value, None) => Ok(value),
        (_, Some(message)) => match crate::json::check(&call.string(0)) {
            Err(message) => fail(message),
            // Go accepts what the reader refuses, such as a large number.
            Ok(()) => Err(Failure::unsupported(message)),
        },
    }),
    Function::new("toJson", &[Type::Any], |call| lenient(call, compact)),
    Function::new("mustToJson", &[Type::Any], |call| strict(call, compact)),
    Function::new("toPrettyJson", &[Type::Any], |call| lenient(call, pretty)),
    Function::new("mustToPrettyJson", &[Type::Any], |call| strict(call, pretty)),
    Function::new("toRawJson", &[Type::Any], |call| strict(call, raw)),
    Function::new("mustToRawJson", &[Type::Any], |call| strict(call, raw)),
];

/// Bytes of JSON that count as one step: a node has two bytes at least.
const BYTES_PER_NODE: usize = 4;

/// Parses JSON. A string that is none gives nil and a message.
fn parsed(call: &mut Call<'_>) -> Result<(Value, Option<String>), Failure> {
    let text = call.string(0);
    call.budget().take(text.len() / BYTES_PER_NODE)?;
    match read_json_as_any(&text) {
        Ok(node) => Ok((from_node(call.budget(), &node, 0)?, None)),
        Err(error) if error.is_limit() => Err(Failure::unsupported(error.to_string())),
        Err(error) => Ok((Value::Nil, Some(format!("invalid JSON: {error}")))),
    }
}

/// Converts parsed JSON or YAML. Every number is a float.
#[expect(clippy::cast_precision_loss, reason = "Go decodes all numbers to floats too")]
pub(super) fn from_node(budget: &mut Budget, node: &Node, level: usize) -> Result<Value, Failure> {
    budget.take(1)?;
    budget.check_depth(level)?;
    Ok(match &node.data {
        Data::Null => Value::Nil,
        Data::Bool(value) => Value::Bool(*value),
        Data::Integer(value) => Value::Float(*value as f64),
        Data::Unsigned(value) => Value::Float(*value as f64),
        Data::Float(value) => Value::Float(value.value()),
        Data::String(text) => text.as_str().into(),
        Data::Sequence(items) => {
            let items: Result<_, _> = items.iter().map(|item| from_node(budget, item, level + 1)).collect();
            Value::List(List::new(items?))
        }
        Data::Mapping(entries) => {
            budget.take_map()?;
            let mut map = BTreeMap::new();
            for entry in entries {
                map.insert(Str::from(entry.key.text.as_str()), from_node(budget, &entry.value, level + 1)?);
            }
            Value::Map(Map::new(map))
        }
    })
}

fn strict(call: &mut Call<'_>, write: fn(&Json) -> String) -> Outcome {
    let value = call.value(0);
    let written = write(&value.to_json_within(call.budget(), 0)?);
    if !written.contains('\u{FFFD}') {
        return Ok(written.into());
    }
    // Go escapes the replacement of an invalid byte, but not the character itself.
    match value.replacements() {
        (true, true) => Err(Failure::unsupported("JSON of U+FFFD and of invalid UTF-8 is not supported")),
        (true, false) => Ok(written.replace('\u{FFFD}', "\\ufffd").into()),
        (false, _) => Ok(written.into()),
    }
}

/// Writes JSON; a value that cannot be written gives the empty string.
fn lenient(call: &mut Call<'_>, write: fn(&Json) -> String) -> Outcome {
    match strict(call, write) {
        Err(Failure::Message(_)) => Ok("".into()),
        result => result,
    }
}

fn compact(json: &Json) -> String {
    write_go_json(json)
}

/// Writes JSON without escapes for HTML.
fn raw(json: &Json) -> String {
    let escaped = write_go_json(json);
    // An escaped backslash before `u` is not an escape for HTML.
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped.as_str();
    while let Some(position) = rest.find('\\') {
        out.push_str(&rest[..position]);
        rest = &rest[position..];
        let plain = [("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&")];
        let found = plain.into_iter().find(|(escape, _)| rest.starts_with(escape));
        let (length, text) = found.map_or((2, &rest[..2]), |(escape, text)| (escape.len(), text));
        out.push_str(text);
        rest = &rest[length..];
    }
    out + rest
}

fn pretty(json: &Json) -> String {
    let mut out = String::new();
    write_pretty(&mut out, json, 0);
    out
}

fn write_pretty(out: &mut String, json: &Json, level: usize) {
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    match json {
        Json::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                line(out, level + 1);
                write_pretty(out, item, level + 1);
            }
            line(out, level);
            out.push(']');
        }
        Json::Object(object) if !object.is_empty() => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            for (index, (key, value)) in entries.into_iter().enumerate() {
                out.push(if index == 0 { '{' } else { ',' });
                line(out, level + 1);
                write_go_string(out, key);
                out.push_str(": ");
                write_pretty(out, value, level + 1);
            }
            line(out, level);
            out.push('}');
        }
        flat => out.push_str(&write_go_json(flat)),
    }
}
