//! One parameter of an application in tables and JSON.

use serde_json::Value;
use tiphys_model::params::{Announcement, ItemType};
use tiphys_model::resources::ResourceReference;
use tiphys_service::params::{Announced, ParameterOrigin, ParameterRow};

/// Returns the effective value on one line.
pub(super) fn shown_value(row: &ParameterRow<'_>) -> String {
    match row.value() {
        Some(value) => value_text(value),
        None => match row.dynamic {
            Some((reference, _)) => dynamic_text(&reference.reference),
            None if row.problems.missing => "(required, missing)".to_owned(),
            None => String::new(),
        },
    }
}

/// Returns the origin of the effective value, with the place of inline values and value files.
pub(super) fn origin_text(row: &ParameterRow<'_>) -> String {
    let words = row.origin_words();
    match (row.origin(), row.location()) {
        (ParameterOrigin::Inline | ParameterOrigin::ValueFile, Some(location)) => {
            format!("{words} ({})", location.line())
        }
        _ => words.to_owned(),
    }
}

/// Returns the type: `map of number`, `array`, `choice`, `string`, `not announced` or `unknown`.
pub(super) fn kind(row: &ParameterRow<'_>) -> String {
    let Some(announcement) = row.announcement else {
        return match row.announced {
            Announced::Known => "not announced".to_owned(),
            Announced::Unknown => "unknown".to_owned(),
        };
    };
    let item = announcement.item_type.as_ref().map_or("string".into(), ItemType::word);
    match announcement.collection_type.field() {
        "string" if announcement.choices.is_empty() => item.into_owned(),
        "string" => "choice".to_owned(),
        collection if item == "string" => collection.to_owned(),
        collection => format!("{collection} of {item}"),
    }
}

/// Returns `yes` or `no`, or nothing for a parameter that is not announced.
pub(super) fn required(row: &ParameterRow<'_>) -> &'static str {
    match row.announcement.map(|announcement| announcement.required) {
        Some(Some(true)) => "yes",
        Some(_) => "no",
        None => "",
    }
}

/// Returns a field of the announcement, empty if there is none.
pub(super) fn text<'a>(row: &ParameterRow<'a>, field: fn(&Announcement) -> Option<&str>) -> &'a str {
    row.announcement.and_then(field).unwrap_or_default()
}

/// Returns the object and field that a dynamic parameter reads, marked as that.
pub(super) fn dynamic_text(reference: &ResourceReference) -> String {
    format!("(dynamic) {reference}")
}

/// Returns a value on one line: a string as it is, or as JSON if it has control characters; lists and maps as JSON.
pub(super) fn value_text(value: &Value) -> String {
    let Some(inner) = value.as_object().and_then(|parts| parts.values().next()) else {
        return String::new();
    };
    match inner.as_str() {
        Some(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => inner.to_string(),
    }
}

#[cfg(test)]
mod tests;
