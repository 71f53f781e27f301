//! Parameters.

use serde::Serialize;
use serde_json::Value;
use tiphys_model::params::{Announcement, ItemType};
use utoipa::ToSchema;

use super::ReferenceDocument;
use crate::params::{OriginLink, ParameterLocation, ParameterRow};

/// A parameter of a source, announced or set or both.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParameterDocument {
    /// The name.
    pub name: String,
    /// The announced title; empty if there is none.
    pub title: String,
    /// The announced description; empty if there is none.
    pub tooltip: String,
    /// Whether the plugin requires a value.
    pub required: bool,
    /// `string`, `number`, `boolean`, `array`, `object` or a list of these; empty if the plugin announces none.
    pub item_type: String,
    /// `string`, `array`, `map`, or empty.
    pub collection_type: String,
    /// The permitted values.
    pub choices: Vec<String>,
    /// Whether the plugin announces the parameter.
    pub announced: bool,
    /// Origin of the effective value: `default`, `set`, `file` (an override file) or `dynamic`.
    pub origin: String,
    /// The layer that sets the effective value, such as `chart default`, `value-file`, `inline`, `set`.
    pub layer: String,
    /// The effective value: `{"string" | "array" | "map": …}`. Null without one, and for a dynamic parameter.
    pub value: Option<Value>,
    /// The reference of a dynamic parameter.
    pub reference: Option<ReferenceDocument>,
    /// The announced default: `{"string" | "array" | "map": …}`.
    pub default: Option<Value>,
    /// The place of the effective value.
    pub location: Option<LocationDocument>,
    /// Whether a required value is missing.
    pub missing: bool,
    /// Problems of the value.
    pub problems: Vec<String>,
    /// Names of announced parameters that are similar to an unannounced one.
    pub suggestions: Vec<String>,
    /// The position of the source, from 1.
    pub source_position: usize,
    /// The name of the source; empty if it has none.
    pub source_name: String,
    /// The version of the Application's own file when it was read.
    pub version: Option<String>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LocationDocument {
    /// The file.
    pub file: String,
    /// The line, from 1, if it is known.
    pub line: Option<usize>,
    /// The version of the file when it was read, if it can be written.
    pub version: Option<String>,
}

/// One of the layers that set a value.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LayerDocument {
    /// `default`, `set`, `file` (an override file) or `dynamic`.
    pub origin: String,
    /// The layer, such as `chart default`, `value-file`, `inline`, `set`.
    pub layer: String,
    /// The layer in the words of the plugin, which looked into its files.
    pub kind: Option<String>,
    /// The value: `{"string" | "array" | "map": …}`; null if it is read from a cluster.
    pub value: Value,
    /// The place.
    pub location: Option<LocationDocument>,
    /// Whether this layer is the effective one.
    pub effective: bool,
}

impl LayerDocument {
    /// Returns the layers of a parameter, highest precedence first.
    pub fn all(row: &ParameterRow<'_>) -> Vec<Self> {
        row.chain.marked().map(|(effective, link)| Self::new(effective, link)).collect()
    }

    fn new(effective: bool, link: &OriginLink) -> Self {
        Self {
            origin: link.origin.name().to_owned(),
            layer: link.words().to_owned(),
            kind: link.kind.clone(),
            value: link.value.clone(),
            location: link.location.as_ref().map(LocationDocument::from),
            effective,
        }
    }
}

impl From<&ParameterRow<'_>> for ParameterDocument {
    fn from(row: &ParameterRow<'_>) -> Self {
        let announcement = row.announcement;
        let text = |field: fn(&Announcement) -> Option<&str>| {
            announcement.and_then(field).unwrap_or_default().to_owned()
        };
        let item_type = announcement.and_then(|one| one.item_type.as_ref()).map(ItemType::word);
        Self {
            name: row.name.to_owned(),
            title: text(|one| one.title.as_deref()),
            tooltip: text(|one| one.tooltip.as_deref()),
            required: announcement.is_some_and(|one| one.required == Some(true)),
            item_type: item_type.unwrap_or_default().into_owned(),
            collection_type: announcement.map_or("", |one| one.collection_type.word()).to_owned(),
            choices: announcement.map(|one| one.choices.clone()).unwrap_or_default(),
            announced: announcement.is_some(),
            origin: row.origin().name().to_owned(),
            layer: row.origin_words().to_owned(),
            value: row.value().cloned(),
            reference: row.dynamic.map(|(reference, _)| reference.into()),
            default: row.default(),
            location: row.location().map(LocationDocument::from),
            missing: row.problems.missing,
            problems: row.problems.texts().map(str::to_owned).collect(),
            suggestions: row.problems.suggestions.clone(),
            source_position: row.source.position,
            source_name: row.source.name.clone(),
            version: row.version.map(|version| version.to_string()),
        }
    }
}

impl From<&ParameterLocation> for LocationDocument {
    fn from(location: &ParameterLocation) -> Self {
        Self {
            file: location.file.clone(),
            line: location.position.map(|position| position.line),
            version: location.version.map(|version| version.to_string()),
        }
    }
}
