//! Reads announcements from `values.schema.json`. Values are not validated: helm does that.
//!
//! All drafts are read alike. Only references within the file are followed; unknown keywords are ignored. Circular references and nested
//! alternatives could take unlimited time, so the steps of each look-up are limited.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use tiphys_helm_values::PathItem;
use tiphys_model::access::percent_decode;
use tiphys_model::params::{JsonType, Types};

use super::notes::shortened;
use super::plain_number;

/// Maximum number of schemas that apply to one value, references included.
const SCHEMAS_MAX: usize = 64;

/// Maximum number of choices; longer lists are not announced.
const CHOICES_MAX: usize = 500;

/// A schema, and the document that its references point into.
#[derive(Clone, Copy, Debug)]
struct Schema<'a> {
    document: &'a Json,
    at: &'a Json,
    nullable: Nullable,
}

/// Whether the value may also be `null`, whatever the schema's type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nullable {
    BySchema,
    /// The schema is one of two alternatives, and the other one is `null`.
    Yes,
}

/// The schemas that apply to a value: several if a chart and its parent both have one.
#[derive(Clone, Debug, Default)]
pub(super) struct Schemas<'a>(Vec<Schema<'a>>);

impl<'a> Schemas<'a> {
    /// Adds the schema of a chart.
    pub(super) fn add(&mut self, document: &'a Json) {
        self.extend(Schema { document, at: document, nullable: Nullable::BySchema });
    }

    /// Returns the schemas of a key or an item.
    pub(super) fn of(&self, item: &PathItem) -> Self {
        let mut found = Self::default();
        for schema in &self.0 {
            let below = match item {
                PathItem::Key(key) => schema.property(key),
                PathItem::Index(index) => schema.item(*index),
            };
            if let Some(at) = below {
                found.extend(Schema { at, nullable: Nullable::BySchema, ..*schema });
            }
        }
        found
    }

    /// Returns the required keys, in the order of the schemas.
    pub(super) fn required(&self) -> Vec<&'a str> {
        let lists = self.0.iter().filter_map(|schema| schema.at.get("required")?.as_array());
        let mut seen = BTreeSet::new();
        lists.flatten().filter_map(Json::as_str).filter(|key| seen.insert(*key)).collect()
    }

    /// Returns the types that all schemas allow; `None` if no schema has a type, or they have none in common.
    pub(super) fn types(&self) -> Option<Types> {
        let mut left = SCHEMAS_MAX;
        self.types_within(&mut left)
    }

    /// Like [`Self::types`], with a limit of nested alternatives; `None` beyond it.
    fn types_within(&self, left: &mut usize) -> Option<Types> {
        all_of(self.0.iter().filter_map(|schema| schema.types(left)))
    }

    /// Returns the description; may be empty.
    pub(super) fn description(&self) -> String {
        let text = self.0.iter().find_map(|schema| schema.at.get("description")?.as_str());
        shortened(text.unwrap_or_default().trim())
    }

    /// Returns the choices of `enum` or `const`. Empty if one is not a scalar, or there are too many.
    pub(super) fn choices(&self) -> Vec<String> {
        let list = self.0.iter().find_map(|schema| match schema.at.get("enum") {
            Some(list) => list.as_array().map(Vec::as_slice),
            None => schema.at.get("const").map(std::slice::from_ref),
        });
        let list = list.unwrap_or_default();
        if list.len() > CHOICES_MAX {
            return Vec::new();
        }
        // null has no string form.
        let texts = list.iter().filter(|value| !value.is_null()).map(scalar_text);
        texts.collect::<Option<_>>().unwrap_or_default()
    }

    /// Adds a schema with all schemas that apply together with it.
    fn extend(&mut self, schema: Schema<'a>) {
        let mut waiting = vec![schema];
        // The limit also ends circular references.
        while let Some(schema) = waiting.pop().filter(|_| self.0.len() < SCHEMAS_MAX) {
            if !schema.at.is_object() {
                continue;
            }
            self.0.push(schema);
            let parts = schema.at.get("allOf").and_then(Json::as_array).into_iter().flatten();
            let parts = parts.chain(schema.referred()).map(|at| Schema { at, ..schema });
            let mut parts: Vec<_> = parts.chain(schema.only_branch()).take(SCHEMAS_MAX).collect();
            parts.reverse();
            waiting.extend(parts);
        }
    }
}

impl<'a> Schema<'a> {
    /// Returns the types that this schema allows: by `type`, by its alternatives, and by its choices.
    fn types(&self, left: &mut usize) -> Option<Types> {
        let named = self.at.get("type").and_then(types_of_names);
        let types =
            all_of([named, self.types_of_branches(left), self.types_of_values()].into_iter().flatten())?;
        let or_null = Types::of([JsonType::Null]).filter(|_| self.nullable == Nullable::Yes);
        Some(or_null.map_or(types, |null| types.or(null)))
    }

    /// Returns the types of all alternatives, if each has a type.
    fn types_of_branches(&self, left: &mut usize) -> Option<Types> {
        let each = self.branches()?.iter().map(|at| {
            *left = left.checked_sub(1)?;
            let mut schemas = Schemas::default();
            schemas.extend(Schema { at, nullable: Nullable::BySchema, ..*self });
            schemas.types_within(left)
        });
        let each: Option<Vec<Types>> = each.collect();
        each?.into_iter().reduce(Types::or)
    }

    fn types_of_values(&self) -> Option<Types> {
        let values = self.at.get("enum").and_then(Json::as_array).map(Vec::as_slice);
        let values = values.or_else(|| self.at.get("const").map(std::slice::from_ref))?;
        Types::of(values.iter().map(type_of_value))
    }

    fn property(&self, key: &str) -> Option<&'a Json> {
        let named = self.at.get("properties").and_then(|properties| properties.get(key));
        // With `patternProperties`, `additionalProperties` may not apply to this key.
        let others =
            || self.at.get("additionalProperties").filter(|_| self.at.get("patternProperties").is_none());
        named.or_else(others)
    }

    fn item(&self, index: usize) -> Option<&'a Json> {
        let listed = |key| self.at.get(key).and_then(Json::as_array).and_then(|items| items.get(index));
        let rest = || self.at.get("items").filter(|items| items.is_object());
        listed("prefixItems")
            .or_else(|| listed("items"))
            .or_else(rest)
            .or_else(|| self.at.get("additionalItems"))
    }

    /// Resolves a reference within the document.
    fn referred(&self) -> Option<&'a Json> {
        let pointer = self.at.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.document.pointer(&percent_decode(pointer))
    }

    fn branches(&self) -> Option<&'a Vec<Json>> {
        ["anyOf", "oneOf"].iter().find_map(|key| self.at.get(key)?.as_array())
    }

    /// Returns the only alternative that is not null: the usual form of an optional value.
    fn only_branch(&self) -> Option<Self> {
        let branches = self.branches()?;
        let is_null = |branch: &Json| branch.get("type").and_then(Json::as_str) == Some("null");
        let mut others = branches.iter().filter(|branch| !is_null(branch));
        let at = others.next().filter(|_| others.next().is_none())?;
        let nullable = if branches.len() > 1 { Nullable::Yes } else { self.nullable };
        Some(Self { at, nullable, ..*self })
    }
}

/// Returns the intersection; `None` if it is empty or there are no types.
fn all_of(types: impl Iterator<Item = Types>) -> Option<Types> {
    types.map(Some).reduce(|one, other| one?.and(other?))?
}

/// Reads `type`: a name, or a list of names.
fn types_of_names(names: &Json) -> Option<Types> {
    let names = match names {
        Json::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    Types::of(names.iter().filter_map(Json::as_str).filter_map(JsonType::from_word))
}

fn type_of_value(value: &Json) -> JsonType {
    match value {
        Json::Null => JsonType::Null,
        Json::Bool(_) => JsonType::Boolean,
        // In JSON Schema, `1.0` is an integer too.
        Json::Number(number) if number.as_f64().is_none_or(|number| number.fract() == 0.0) => {
            JsonType::Integer
        }
        Json::Number(_) => JsonType::Number,
        Json::String(_) => JsonType::String,
        Json::Array(_) => JsonType::Array,
        Json::Object(_) => JsonType::Object,
    }
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

#[cfg(test)]
mod tests;
