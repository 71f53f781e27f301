//! Objects with the values of Secrets redacted.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tiphys_model::params::SecretMasks;

use super::yaml;
use crate::Manifest;

/// The annotation in which `kubectl apply` stores the applied object as JSON.
pub const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The mask for the first value of a key. Each other value gets one more `+`, as in Argo CD.
const MASK: &str = "++++++++";

/// The fields of a Secret that are shown or redacted separately. All other fields are redacted as a whole.
const SECRET_FIELDS: [&str; 7] =
    ["apiVersion", "data", "immutable", "kind", "metadata", "stringData", "type"];

/// A redacted object: in a Secret, masks replace the values of `data` and `stringData`. Masks of one key are equal on both sides exactly if
/// the values are. They reveal nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown(Value);

impl Shown {
    /// Returns the object.
    pub fn value(&self) -> &Value {
        &self.0
    }

    pub(super) fn mask(&mut self, masks: &SecretMasks) {
        masks.apply(&mut self.0);
    }

    /// Replaces the object. One that is no longer YAML stays as it was.
    pub(super) fn set_yaml(&mut self, text: &str) {
        if let Ok(Some(node)) = tiphys_yaml::read_document(text.as_bytes()) {
            self.0 = node.to_value();
        }
    }

    /// Returns the object as YAML with sorted keys.
    pub fn to_yaml(&self) -> String {
        yaml(&self.0)
    }
}

/// Returns both sides of an object, redacted.
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

/// The values of each key. The index of a value determines its mask.
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
                        *value = self.mask(key, plain(field, value)).into();
                    }
                }
                // A cluster would reject this Secret, but the content may still be secret.
                Some(other) => *other = self.mask(field, other.to_string().into_bytes()).into(),
            }
        }
        // An unknown field is probably a misspelling, such as `stringdata`, with secret content.
        for (field, value) in secret.iter_mut().filter(|(field, _)| !SECRET_FIELDS.contains(&field.as_str()))
        {
            *value = self.mask(field, value.to_string().into_bytes()).into();
        }
        let annotations = secret.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
        if let Some(applied) =
            annotations.and_then(|annotations| annotations.get_mut(LAST_APPLIED_ANNOTATION))
        {
            *applied = self.mask(LAST_APPLIED_ANNOTATION, applied.to_string().into_bytes()).into();
        }
    }

    fn mask(&mut self, key: &str, value: Vec<u8>) -> String {
        let known = self.values.entry(key.to_owned()).or_default();
        let index = known.iter().position(|one| *one == value).unwrap_or_else(|| {
            known.push(value);
            known.len() - 1
        });
        format!("{MASK}{}", "+".repeat(index))
    }
}

/// Returns the bytes of a value: `data` is base64, `stringData` text. A value that cannot be decoded stands for itself.
fn plain(field: &str, value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) if field == "data" => decoded(text).unwrap_or_else(|| text.clone().into_bytes()),
        Value::String(text) => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

/// Decodes base64 as Go does: line breaks are ignored.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests;
