//! Objects as they may be shown: without the values of Secrets.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::yaml;
use crate::Manifest;

/// Where `kubectl apply` keeps what it applied: the whole object, as JSON text.
pub(super) const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The mask of the first of a key's values; each other value gets one sign more, as in Argo CD.
const MASK: &str = "++++++++";

/// The fields of a Secret: those that may be shown, and those that have masks of their own.
const SECRET_FIELDS: [&str; 7] =
    ["apiVersion", "data", "immutable", "kind", "metadata", "stringData", "type"];

/// An object as it may be shown: of a Secret, masks stand for the values of `data` and `stringData`. Equal values of one key have equal
/// masks on both sides, different ones do not; nothing else can be told from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown(Value);

impl Shown {
    /// The object.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The object as YAML with sorted keys.
    pub fn to_yaml(&self) -> String {
        yaml(&self.0)
    }
}

/// Both sides of an object as they may be shown.
pub(super) fn shown(before: Option<&Manifest>, after: Option<&Manifest>) -> (Option<Shown>, Option<Shown>) {
    let mut masks = Masks::default();
    let mut show = |manifest: &Manifest| {
        let mut object = manifest.object().clone();
        if manifest.group_kind() == ("", "Secret") {
            masks.apply(&mut object);
        }
        Shown(Value::Object(object))
    };
    (before.map(&mut show), after.map(&mut show))
}

/// The masks that the values of each key got.
#[derive(Default)]
struct Masks {
    values: BTreeMap<String, Vec<Vec<u8>>>,
}

impl Masks {
    fn apply(&mut self, secret: &mut Map<String, Value>) {
        for field in ["data", "stringData"] {
            match secret.get_mut(field) {
                None | Some(Value::Null) => {}
                Some(Value::Object(entries)) => {
                    for (key, value) in entries {
                        *value = self.of(key, plain(field, value)).into();
                    }
                }
                // Not a Secret that a cluster would take; what it holds may be secret all the same.
                Some(other) => *other = self.of(field, other.to_string().into_bytes()).into(),
            }
        }
        // A field that a Secret does not have is a mistake of writing, such as `stringdata`, with the same content.
        for (field, value) in secret.iter_mut().filter(|(field, _)| !SECRET_FIELDS.contains(&field.as_str()))
        {
            *value = self.of(field, value.to_string().into_bytes()).into();
        }
        let annotations = secret.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
        if let Some(applied) =
            annotations.and_then(|annotations| annotations.get_mut(LAST_APPLIED_ANNOTATION))
        {
            *applied = self.of(LAST_APPLIED_ANNOTATION, applied.to_string().into_bytes()).into();
        }
    }

    fn of(&mut self, key: &str, value: Vec<u8>) -> String {
        let known = self.values.entry(key.to_owned()).or_default();
        let index = known.iter().position(|one| *one == value).unwrap_or_else(|| {
            known.push(value);
            known.len() - 1
        });
        format!("{MASK}{}", "+".repeat(index))
    }
}

/// What a value stands for: `data` holds bytes in base64, `stringData` text. What cannot be decoded stands for itself.
fn plain(field: &str, value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) if field == "data" => decoded(text).unwrap_or_else(|| text.clone().into_bytes()),
        Value::String(text) => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

/// Base64 as Go reads it: line breaks do not count.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests;
