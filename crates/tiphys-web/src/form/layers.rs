//! The layers that set a value as the template shows them.

use serde_json::Value;
use tiphys_service::documents::{LayerDocument, LocationDocument, ParameterDocument};

use super::control::entered;
use super::draft::{Entered, is_set_here};

/// The text of a null.
const NULL: &str = "null";

/// The layer that is effective.
pub(crate) struct Origin {
    pub(crate) words: String,
    pub(crate) place: String,
    /// The class of the badge.
    pub(crate) class: &'static str,
}

/// One of the layers that set a value.
pub(crate) struct LayerView {
    pub(crate) words: String,
    pub(crate) value: String,
    pub(crate) place: String,
    pub(crate) effective: bool,
}

/// Returns the layer below the effective one.
pub(super) fn below(layers: &[LayerDocument]) -> Option<LayerView> {
    let effective = layers.iter().position(|layer| layer.effective)?;
    layers.get(effective + 1).map(LayerView::of)
}

/// Returns the effect of an effective null, unless it is a default.
pub(super) fn null_effect(layers: &[LayerDocument]) -> Option<String> {
    layers.iter().find(|layer| layer.effective && layer.value.is_null() && layer.origin == "set")?;
    Some(match below(layers) {
        Some(below) if below.value != NULL => {
            format!("null in the files; it removes the {}: {}", below.words, below.value)
        }
        _ => "null in the files".to_owned(),
    })
}

impl Origin {
    pub(super) fn of(parameter: &ParameterDocument) -> Self {
        let class = match parameter.origin.as_str() {
            "dynamic" => "dynamic",
            _ if is_set_here(parameter) => "here",
            "default" => "default",
            _ => "file",
        };
        Self {
            words: parameter.layer.clone(),
            place: parameter.location.as_ref().map(place).unwrap_or_default(),
            class,
        }
    }
}

impl LayerView {
    pub(super) fn of(layer: &LayerDocument) -> Self {
        Self {
            words: layer.layer.clone(),
            value: value_text(&layer.value),
            place: layer.location.as_ref().map(place).unwrap_or_default(),
            effective: layer.effective,
        }
    }
}

fn place(location: &LocationDocument) -> String {
    let file = without_dot(&location.file);
    location.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}

/// Returns a path without `./` in front.
pub(crate) fn without_dot(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Returns a value on one line. An empty string is marked.
fn value_text(value: &Value) -> String {
    match entered(value) {
        Some(Entered::Text(text)) if text.is_empty() => "\"\"".to_owned(),
        Some(Entered::Text(text)) => text,
        Some(Entered::List(list)) => serde_json::json!(list).to_string(),
        Some(Entered::Map(map)) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, value.into())).collect()).to_string()
        }
        None if value.is_null() => NULL.to_owned(),
        None => value.to_string(),
    }
}
