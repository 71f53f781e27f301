//! What `values.schema.json` says of a value, as far as it fits an announcement. Nothing is checked: helm does that.
//!
//! All drafts are read alike. References lead within the file; whatever else a schema may hold is passed over. A schema may be made to
//! take for ever (references in circles, branches of branches), so the steps of each look are counted.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use tiphys_helm_values::PathItem;
use tiphys_params::ItemType;

use super::notes::shortened;
use super::plain_number;

/// Schemas that may hold for one value at once, with all that they refer to.
const SCHEMAS_MAX: usize = 64;

/// Texts to choose from; more are no choice for a person.
const CHOICES_MAX: usize = 500;

/// A schema, and the document that its references are in.
#[derive(Clone, Copy, Debug)]
struct Schema<'a> {
    document: &'a Json,
    at: &'a Json,
}

/// The schemas that hold for a value: none, or several where charts and their parents both have one.
#[derive(Clone, Debug, Default)]
pub(super) struct Schemas<'a>(Vec<Schema<'a>>);

/// The kind of a value as a schema knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One scalar type.
    Scalar(ItemType),
    /// An object.
    Object,
    /// Several types, or a list.
    Other,
}

impl<'a> Schemas<'a> {
    /// Adds the schema of a whole chart.
    pub(super) fn add(&mut self, document: &'a Json) {
        self.extend(Schema { document, at: document });
    }

    /// The schemas of a key or an item.
    pub(super) fn of(&self, item: &PathItem) -> Self {
        let mut found = Self::default();
        for schema in &self.0 {
            let below = match item {
                PathItem::Key(key) => schema.property(key),
                PathItem::Index(index) => schema.item(*index),
            };
            if let Some(at) = below {
                found.extend(Schema { at, ..*schema });
            }
        }
        found
    }

    /// The keys that the value must have, in the order of the schemas.
    pub(super) fn required(&self) -> Vec<&'a str> {
        let lists = self.0.iter().filter_map(|schema| schema.at.get("required")?.as_array());
        let mut seen = BTreeSet::new();
        lists.flatten().filter_map(Json::as_str).filter(|key| seen.insert(*key)).collect()
    }

    /// The kind of value; `None` if no schema says.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.0.iter().find_map(|schema| kind(schema.at.get("type")?))
    }

    /// What the value is for; empty if no schema says.
    pub(super) fn description(&self) -> String {
        let text = self.0.iter().find_map(|schema| schema.at.get("description")?.as_str());
        shortened(text.unwrap_or_default().trim())
    }

    /// The texts to choose from: of `enum`, or of `const`. None if one of them is no scalar, or there are too many.
    pub(super) fn choices(&self) -> Vec<String> {
        let list = self.0.iter().find_map(|schema| match schema.at.get("enum") {
            Some(list) => list.as_array().map(Vec::as_slice),
            None => schema.at.get("const").map(std::slice::from_ref),
        });
        let list = list.unwrap_or_default();
        if list.len() > CHOICES_MAX {
            return Vec::new();
        }
        // No text stands for null.
        let texts = list.iter().filter(|value| !value.is_null()).map(scalar_text);
        texts.collect::<Option<_>>().unwrap_or_default()
    }

    /// Adds a schema with all that holds together with it.
    fn extend(&mut self, schema: Schema<'a>) {
        let mut waiting = vec![schema];
        // The bound also ends references that lead in a circle.
        while let Some(schema) = waiting.pop().filter(|_| self.0.len() < SCHEMAS_MAX) {
            if !schema.at.is_object() {
                continue;
            }
            self.0.push(schema);
            let parts = schema.at.get("allOf").and_then(Json::as_array).into_iter().flatten();
            let parts = parts.chain(schema.referred()).chain(schema.only_branch());
            let mut parts: Vec<_> = parts.map(|at| Schema { at, ..schema }).take(SCHEMAS_MAX).collect();
            parts.reverse();
            waiting.extend(parts);
        }
    }
}

impl<'a> Schema<'a> {
    fn property(&self, key: &str) -> Option<&'a Json> {
        let named = self.at.get("properties").and_then(|properties| properties.get(key));
        named.or_else(|| self.at.get("additionalProperties"))
    }

    fn item(&self, index: usize) -> Option<&'a Json> {
        let listed = |key| self.at.get(key).and_then(Json::as_array).and_then(|items| items.get(index));
        let rest = || self.at.get("items").filter(|items| items.is_object());
        listed("prefixItems")
            .or_else(|| listed("items"))
            .or_else(rest)
            .or_else(|| self.at.get("additionalItems"))
    }

    /// What a reference within the document leads to.
    fn referred(&self) -> Option<&'a Json> {
        let pointer = self.at.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.document.pointer(&percent_decoded(pointer))
    }

    /// Of alternatives the only one that is not null: the usual way to say that a value may be left empty.
    fn only_branch(&self) -> Option<&'a Json> {
        let branches = ["anyOf", "oneOf"].iter().find_map(|key| self.at.get(key)?.as_array())?;
        let is_null = |branch: &Json| branch.get("type").and_then(Json::as_str) == Some("null");
        let mut others = branches.iter().filter(|branch| !is_null(branch));
        others.next().filter(|_| others.next().is_none())
    }
}

/// The kind that `type` says: a name, or a list of names of which `null` does not count.
fn kind(names: &Json) -> Option<Kind> {
    let names = match names {
        Json::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    let names: Vec<&str> = names.iter().filter_map(Json::as_str).filter(|name| *name != "null").collect();
    Some(match names[..] {
        [] => return None,
        ["object"] => Kind::Object,
        ["string"] => Kind::Scalar(ItemType::String("string".to_owned())),
        ["boolean"] => Kind::Scalar(ItemType::Boolean),
        ["number" | "integer"] | ["number", "integer"] | ["integer", "number"] => {
            Kind::Scalar(ItemType::Number)
        }
        _ => Kind::Other,
    })
}

fn scalar_text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Bool(value) => Some(value.to_string()),
        Json::Number(number) => number.as_i64().map(|number| number.to_string()).or_else(|| {
            let number = number.as_f64()?;
            Some(plain_number(number))
        }),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// A JSON pointer out of the fragment of a URL.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(byte);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
