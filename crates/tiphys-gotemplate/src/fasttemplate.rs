//! Templates without `goTemplate`: `{{key}}`, as Argo CD uses the library fasttemplate.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::unicode::{Unescaped, quote};

/// A tag has no end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid template: Cannot find end tag=\"}}}}\" in the template={} starting from {}",
    quote(.template.as_bytes(), '"', Unescaped::Printable),
    quote(.rest.as_bytes(), '"', Unescaped::Printable)
)]
pub struct ReplaceError {
    /// The whole template.
    pub template: String,
    /// The template after the opening of the tag.
    pub rest: String,
}

/// Replaces each `{{key}}` by its value. Blanks around a key are ignored; a tag without a value stays as it is, and a value is not read
/// again. A string in which no line has `{{` followed by `}}` is not a template.
pub fn replace(template: &str, values: &BTreeMap<String, String>) -> Result<String, ReplaceError> {
    let is_tagged = |line: &str| line.find("{{").is_some_and(|start| line[start + 2..].contains("}}"));
    if !template.split('\n').any(is_tagged) {
        return Ok(template.to_owned());
    }
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((tag, after)) = after.split_once("}}") else {
            return Err(ReplaceError { template: template.to_owned(), rest: after.to_owned() });
        };
        let key = tag.trim();
        match values.get(key) {
            Some(value) if !key.is_empty() => out.push_str(value),
            _ => out.extend(["{{", tag, "}}"]),
        }
        rest = after;
    }
    Ok(out + rest)
}

/// Returns the values of an object by their paths: keys and indices joined with dots. Values are written as Go prints them, `null` as
/// `<nil>`; empty objects and lists are left out.
pub fn flatten(object: &Value) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    add(&mut flat, String::new(), object);
    flat
}

fn add(flat: &mut BTreeMap<String, String>, path: String, value: &Value) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let written = match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => crate::number::general(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(string) => string.clone(),
        Value::Array(items) => {
            return (0_usize..)
                .zip(items)
                .for_each(|(index, item)| add(flat, below(&index.to_string()), item));
        }
        Value::Object(entries) => {
            return entries.iter().for_each(|(key, value)| add(flat, below(key), value));
        }
    };
    flat.insert(path, written);
}

#[cfg(test)]
mod tests;
