//! A parameter that is added by its name.

use serde_json::Number;
use tiphys_service::params::{EditedValue, ParameterEdit};
use tiphys_yaml::{Data, read_document};

use crate::posted::Posted;

/// The names of the controls.
pub(crate) const ADDED: [&str; 3] = ["new-name", "new-kind", "new-value"];

/// The button that empties the controls.
const UNDO: &str = "undo:new";

/// A parameter that is added by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Added {
    pub(crate) name: String,
    /// The kind of the value: one of [`Added::KINDS`]. Any other word is text.
    pub(crate) kind: String,
    pub(crate) value: String,
}

impl Added {
    /// The prefix of the ids of its elements.
    pub(crate) const ID: &'static str = "new";

    /// The title of its controls.
    pub(crate) const TITLE: &'static str = "Another parameter";

    /// The kinds of values with their words.
    pub(crate) const KINDS: [(&'static str, &'static str); 4] = [
        ("text", "text"),
        ("number", "number"),
        ("boolean", "boolean"),
        ("yaml", "list or map as YAML or JSON"),
    ];

    /// Reads the controls of a posted form.
    pub(crate) fn of(posted: Option<&Posted>) -> Self {
        let Some(posted) = posted.filter(|posted| posted.get(super::OPERATION) != Some(UNDO)) else {
            return Self::default();
        };
        let [name, kind, value] = ADDED.map(|field| posted.get(field).unwrap_or_default().to_owned());
        Self { name, kind, value }
    }

    /// Whether something is entered.
    pub(crate) fn is_changed(&self) -> bool {
        !(self.name.is_empty() && self.value.is_empty())
    }

    /// Returns the change, or why there is none. `None` if nothing is entered.
    pub(crate) fn edit(&self) -> Option<Result<ParameterEdit, String>> {
        if !self.is_changed() {
            return None;
        }
        if self.name.trim().is_empty() {
            return Some(Err("a name is required".to_owned()));
        }
        Some(self.edited().map(|value| ParameterEdit { name: self.name.clone(), value: Some(value) }))
    }

    /// Returns the number of significant digits, zeros at the end included.
    fn digits(&self) -> usize {
        let end = self.value.find(['e', 'E']).unwrap_or(self.value.len());
        let digits = self.value[..end].chars().filter(char::is_ascii_digit);
        digits.skip_while(|digit| *digit == '0').count()
    }

    fn edited(&self) -> Result<EditedValue, String> {
        let json = EditedValue::Json;
        match self.kind.as_str() {
            "number" => match self.value.trim().parse::<Number>() {
                Err(_) => Err("expected a number, such as `3` or `-1.5e3`".to_owned()),
                Ok(number) if number.is_f64() && self.digits() > f64::DIGITS as usize => Err(format!(
                    "a number that is not an integer of 64 bits has up to {} digits",
                    f64::DIGITS
                )),
                Ok(number) => Ok(json(number.into())),
            },
            "boolean" => match self.value.trim() {
                word @ ("true" | "false") => Ok(json((word == "true").into())),
                _ => Err("expected `true` or `false`".to_owned()),
            },
            "yaml" => match read_document(self.value.as_bytes()) {
                Ok(Some(node)) if matches!(node.data, Data::Sequence(_) | Data::Mapping(_)) => {
                    Ok(json(node.to_value()))
                }
                Ok(_) => Err("expected a list or a map".to_owned()),
                Err(error) => Err(format!("expected YAML: {error}")),
            },
            _ if is_plain(&self.value) => Ok(EditedValue::Text(self.value.clone())),
            // A chart has a value of another type if its text has one.
            _ => Ok(json(self.value.clone().into())),
        }
    }
}

/// Whether YAML reads text without quotes as the same string.
fn is_plain(text: &str) -> bool {
    let node = read_document(text.as_bytes());
    node.is_ok_and(|node| node.is_some_and(|node| matches!(node.data, Data::String(read) if read == text)))
}

#[cfg(test)]
mod tests;
