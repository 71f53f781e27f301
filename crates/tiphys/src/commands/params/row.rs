//! One parameter of an application: what is announced of it, and what is set.

use serde_json::{Map, Value, json};
use tiphys_params::{Announcement, Default, Parameter};
use tiphys_render::AnnouncedSource;
use tiphys_store::StoredApplication;
use tiphys_yaml::Position;

use crate::findings::parameter_position as position;

/// Where a parameter's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing is set; what is shown is the announced default, if there is one.
    Default,
    /// An override file in the repository.
    File,
    /// The Application.
    Set,
}

impl Origin {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Set => "set",
        }
    }
}

/// One row of `params list`.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) announcement: Option<&'a Announcement>,
    pub(super) parameter: Option<&'a Parameter>,
    pub(super) origin: Origin,
    /// File and position of the value, if the Application sets it.
    pub(super) location: Option<(String, Option<Position>)>,
    pub(super) source: &'a AnnouncedSource,
}

/// The rows of one source: announced parameters in their order, then the others that are set.
pub(super) fn rows<'a>(stored: &StoredApplication, source: &'a AnnouncedSource) -> Vec<Row<'a>> {
    let row = |name: &'a str, announcement: Option<&'a Announcement>| {
        // Of a parameter that is set twice the later one counts, as in the environment.
        let parameter = source.parameters.iter().rfind(|parameter| parameter.name == name);
        let own = source.own_parameters.iter().rposition(|parameter| parameter.name == name);
        let origin = match (parameter, own) {
            (None, _) => Origin::Default,
            (Some(value), Some(index)) if source.own_parameters[index] == *value => Origin::Set,
            (Some(_), _) => Origin::File,
        };
        let location = match origin {
            Origin::Default => None,
            Origin::Set => {
                own.map(|index| (stored.place.file.to_string(), position(stored, source.position, index)))
            }
            Origin::File => source.override_files.last().map(|file| (file.clone(), None)),
        };
        Row { name, announcement, parameter, origin, location, source }
    };
    let announced =
        source.announcements.iter().map(|announcement| row(&announcement.name, Some(announcement)));
    let mut rows: Vec<Row<'a>> = announced.collect();
    for parameter in &source.parameters {
        if !rows.iter().any(|row| row.name == parameter.name) {
            rows.push(row(&parameter.name, None));
        }
    }
    rows
}

impl Row<'_> {
    /// Whether a value is due and missing.
    pub(super) fn is_missing(&self) -> bool {
        let required = self.announcement.is_some_and(|announcement| announcement.required == Some(true));
        required
            && self.parameter.is_none()
            && self.announcement.is_some_and(|announcement| announcement.default_value().is_none())
    }

    /// The value in short, for a table.
    pub(super) fn shown_value(&self) -> String {
        match self.value() {
            Some(Value::Object(value)) => {
                let inner = value.values().next().cloned().unwrap_or_default();
                inner.as_str().map_or_else(|| tiphys_yaml::write_go_json(&inner), str::to_owned)
            }
            _ if self.is_missing() => "(required, missing)".to_owned(),
            _ => String::new(),
        }
    }

    /// The value that is in effect: `{"string" | "array" | "map": …}`.
    pub(super) fn value(&self) -> Option<Value> {
        match self.parameter {
            Some(parameter) => Some(value_of(parameter)),
            None => self.default(),
        }
    }

    /// The announced default.
    pub(super) fn default(&self) -> Option<Value> {
        Some(match self.announcement?.default_value()? {
            Default::String(text) => json!({"string": text}),
            Default::Array(items) => json!({"array": items}),
            Default::Map(map) => json!({"map": map}),
        })
    }

    /// The shape of `params list -o json` (`design.md` section 4).
    pub(super) fn to_json(&self) -> Value {
        let announcement = self.announcement;
        let text = |field: fn(&Announcement) -> Option<&str>| {
            announcement.and_then(field).unwrap_or_default().to_owned()
        };
        json!({
            "name": self.name,
            "title": text(|a| a.title.as_deref()),
            "tooltip": text(|a| a.tooltip.as_deref()),
            "required": announcement.is_some_and(|a| a.required == Some(true)),
            "itemType": text(|a| a.item_type.as_ref().map(tiphys_params::ItemType::word)),
            "collectionType": announcement.map_or("", |a| a.collection_type.word()),
            "choices": announcement.map(|a| a.choices.clone()).unwrap_or_default(),
            "announced": announcement.is_some(),
            "origin": self.origin.name(),
            "value": self.value(),
            "default": self.default(),
            "location": self.location.as_ref().map(|(file, position)| json!({"file": file, "line": position.map(|p| p.line)})),
            "sourcePosition": self.source.position,
            "sourceName": self.source.name,
        })
    }
}

fn value_of(parameter: &Parameter) -> Value {
    let mut value = Map::new();
    if let Some(text) = &parameter.string {
        value.insert("string".to_owned(), json!(text));
    }
    if let Some(items) = &parameter.array {
        value.insert("array".to_owned(), json!(items));
    }
    if let Some(map) = &parameter.map {
        value.insert("map".to_owned(), json!(map));
    }
    Value::Object(value)
}
