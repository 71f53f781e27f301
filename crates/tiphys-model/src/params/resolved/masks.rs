//! Masks for the values of Secrets in rendered objects.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{ValueRedactor, forms_of};

/// The mask for the first value. Each other value gets one more `+`, as Argo CD does it for the values of rendered Secrets.
const MASK: &str = "++++++++";

/// Masks for the values of Secrets that dynamic parameters have brought into rendered objects. Equal values have equal masks.
///
/// A value is found as it is, and as JSON, Go, URLs, shells and base64 write it; one that is shorter than
/// [`REDACTED_CHARS_MIN`](super::REDACTED_CHARS_MIN) only if it is the whole string. A template that computes something else from it, such as
/// a checksum, reveals that.
#[derive(Default)]
pub struct SecretMasks {
    /// The values with their masks.
    whole: Vec<(String, String)>,
    /// Their forms with their masks, the longest first.
    forms: Vec<(String, String)>,
}

impl SecretMasks {
    /// Returns the masks for the values of the compared sides.
    pub fn of<'r>(sides: impl IntoIterator<Item = &'r ValueRedactor>) -> Self {
        let mut masks = Self::default();
        for value in sides.into_iter().flat_map(|side| &side.secrets) {
            if value.is_empty() || masks.whole.iter().any(|(known, _)| known == value) {
                continue;
            }
            let mask = format!("{MASK}{}", "+".repeat(masks.whole.len()));
            masks.forms.extend(forms_of(value).into_iter().map(|form| (form, mask.clone())));
            masks.whole.push((value.clone(), mask));
        }
        masks.forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
        masks
    }

    /// Returns whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// Returns a string with masks instead of values.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if let Some((_, mask)) = self.whole.iter().find(|(value, _)| value == text) {
            return Cow::Owned(mask.clone());
        }
        self.forms.iter().fold(Cow::Borrowed(text), |text, (form, mask)| {
            if text.contains(form) { Cow::Owned(text.replace(form, mask)) } else { text }
        })
    }

    /// Masks the strings, numbers and keys of an object.
    pub fn apply(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            Value::Object(entries) => {
                let masked = std::mem::take(entries).into_iter().map(|(key, mut value)| {
                    self.apply(&mut value);
                    (self.mask(&key).into_owned(), value)
                });
                *entries = masked.collect::<Map<_, _>>();
            }
            Value::String(text) => *text = self.mask(text).into_owned(),
            Value::Number(number) => {
                let text = number.to_string();
                if let Cow::Owned(masked) = self.mask(&text) {
                    *value = Value::String(masked);
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
    }
}

#[cfg(test)]
mod tests;
