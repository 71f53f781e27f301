//! Templates without `goTemplate`: `{{key}}`, as Argo CD uses the library fasttemplate.

use std::collections::BTreeMap;

use crate::strconv::quote;

/// A tag has no end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid template: Cannot find end tag=\"}}}}\" in the template={} starting from {}",
    quote(.template),
    quote(.rest)
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

#[cfg(test)]
mod tests;
