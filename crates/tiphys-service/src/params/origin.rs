//! The origin of a parameter's value: everything that sets it, and which of these is effective.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use tiphys_engine::{parameter_places, source_node};
use tiphys_params::{Announcement, Default, Parameter};
use tiphys_render::AnnouncedSource;
use tiphys_store::{FileVersion, StoredApplication};
use tiphys_yaml::Position;

use super::defaults::Defaults;

/// What sets a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterOrigin {
    /// The default in the announcement.
    Default,
    /// An override file in the repository.
    File,
    /// The Application.
    Set,
}

impl ParameterOrigin {
    /// Returns the lower-case name: `default`, `file` or `set`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Set => "set",
        }
    }
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterLocation {
    /// The file: the name of an Application's file in the store, or the path of an override file in its repository.
    pub file: String,
    /// The position in the file, if known.
    pub position: Option<Position>,
    /// The version of the file when it was read, if it can be written.
    pub version: Option<FileVersion>,
}

impl ParameterLocation {
    /// Returns `file:line`.
    pub fn line(&self) -> String {
        match self.position {
            Some(position) => format!("{}:{}", self.file, position.line),
            None => self.file.clone(),
        }
    }
}

impl std::fmt::Display for ParameterLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.position {
            Some(position) => write!(f, "{}:{position}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// One setting of a value.
#[derive(Clone, Debug)]
pub struct OriginLink {
    /// What sets the value.
    pub origin: ParameterOrigin,
    /// The value: `{"string" | "array" | "map": …}`.
    pub value: Value,
    /// The place of the setting.
    pub location: Option<ParameterLocation>,
}

/// All settings of a value, highest precedence first. None is effective if an override file that replaces the whole list removes the
/// value.
#[derive(Clone, Debug)]
pub struct OriginChain {
    /// The settings.
    pub links: Vec<OriginLink>,
    effective: Option<usize>,
}

impl OriginChain {
    /// Returns the effective setting.
    pub fn effective(&self) -> Option<&OriginLink> {
        self.links.get(self.effective?)
    }

    /// Returns the settings, each with whether it is effective.
    pub fn marked(&self) -> impl Iterator<Item = (bool, &OriginLink)> {
        self.links.iter().enumerate().map(|(index, link)| (Some(index) == self.effective, link))
    }
}

/// The documents that set parameters of one source, highest precedence first, and the announced defaults.
pub(super) struct ParameterLayers<'a> {
    /// The version of the Application's own file when it was read.
    pub(super) version: Option<FileVersion>,
    documents: Vec<DocumentLayer<'a>>,
    defaults: Defaults<'a>,
}

/// One document that sets parameters.
struct DocumentLayer<'a> {
    origin: ParameterOrigin,
    file: String,
    version: Option<FileVersion>,
    /// The places of the parameters that the document sets itself.
    places: BTreeMap<String, Position>,
    /// The values after the document was applied.
    values: HashMap<&'a str, &'a Parameter>,
}

impl<'a> ParameterLayers<'a> {
    /// Returns the layers of a source.
    pub(super) fn of(
        stored: &'a StoredApplication,
        source: &'a AnnouncedSource,
        defaults: Defaults<'a>,
    ) -> Self {
        let plugin = source.plugin.as_deref();
        let files = source.override_files.iter().rev().map(|file| DocumentLayer {
            origin: ParameterOrigin::File,
            file: file.path.clone(),
            version: Some(FileVersion::of(&file.text)),
            places: parameter_places(&file.patch, plugin),
            values: by_name(&file.parameters),
        });
        let document = source.position.checked_sub(1).and_then(|index| source_node(&stored.node, index));
        let own = DocumentLayer {
            origin: ParameterOrigin::Set,
            file: stored.place.file.to_string(),
            version: stored.version(),
            places: document.map(|document| parameter_places(document, plugin)).unwrap_or_default(),
            values: by_name(&source.own_parameters),
        };
        Self { version: stored.version(), documents: files.chain([own]).collect(), defaults }
    }

    /// Returns the settings of a parameter. `value` is the one that is set after all documents.
    pub(super) fn chain(
        &self,
        name: &str,
        announcement: Option<&Announcement>,
        value: Option<&Parameter>,
    ) -> OriginChain {
        let link = |layer: &DocumentLayer<'_>| {
            let value = value_of(layer.values.get(name)?);
            let position = layer.places.get(name).copied();
            // The values after a file include those that the file does not set.
            if layer.origin == ParameterOrigin::File && position.is_none() {
                return None;
            }
            let location = ParameterLocation { file: layer.file.clone(), position, version: layer.version };
            Some(OriginLink { origin: layer.origin, value, location: Some(location) })
        };
        let mut links: Vec<OriginLink> = self.documents.iter().filter_map(link).collect();
        let set = links.len();
        if let Some((announcement, value)) = announcement.and_then(|a| Some((a, a.default_value()?))) {
            links.push(OriginLink {
                origin: ParameterOrigin::Default,
                value: default_of(&value),
                location: self.defaults.location(announcement),
            });
        }
        // The default follows the links that set a value.
        let effective = if value.is_some() { 0 } else { set };
        OriginChain { effective: (effective < links.len()).then_some(effective), links }
    }
}

/// Returns parameters by name. Of two with the same name the later one wins, as in the environment.
pub(super) fn by_name(parameters: &[Parameter]) -> HashMap<&str, &Parameter> {
    parameters.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect()
}

/// Returns a default as JSON: `{"string" | "array" | "map": …}`.
pub(super) fn default_of(value: &Default<'_>) -> Value {
    match value {
        Default::String(text) => json!({"string": text}),
        Default::Array(items) => json!({"array": items}),
        Default::Map(map) => json!({"map": map}),
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
