//! Where a parameter's value comes from: everything that gives it one, and which of them counts.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use tiphys_engine::{parameter_places, source_node};
use tiphys_params::{Announcement, Default, Parameter};
use tiphys_render::AnnouncedSource;
use tiphys_store::{FileVersion, StoredApplication};
use tiphys_yaml::Position;

use super::defaults::Defaults;

/// What gives a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The announcement.
    Default,
    /// An override file in the repository.
    File,
    /// The Application.
    Set,
}

impl Origin {
    /// The word of `params list -o json` (`design.md` section 4).
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Set => "set",
        }
    }
}

/// A place that a person can open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// The file: an Application's as the store calls it, an override file's as its path in the repository.
    pub(super) file: String,
    /// Where in it, if it is known.
    pub(super) position: Option<Position>,
    /// What the file was when it was read, if it can be written.
    pub(super) version: Option<FileVersion>,
}

impl Location {
    /// `file:line`.
    pub(super) fn line(&self) -> String {
        match self.position {
            Some(position) => format!("{}:{}", self.file, position.line),
            None => self.file.clone(),
        }
    }

    /// The shape of `location` in `params list -o json`.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "file": self.file,
            "line": self.position.map(|position| position.line),
            "version": self.version.map(|version| version.to_string()),
        })
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.position {
            Some(position) => write!(f, "{}:{position}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// One thing that gives a parameter a value.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// What it is.
    pub(super) origin: Origin,
    /// The value: `{"string" | "array" | "map": …}`.
    pub(super) value: Value,
    /// Where it stands.
    pub(super) location: Option<Location>,
}

/// All that gives a parameter a value, the strongest first, and which of it counts: an override file that replaces the whole list can
/// take a value away without giving another.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The links.
    pub(super) links: Vec<Link>,
    effective: Option<usize>,
}

impl Chain {
    /// The link whose value is in effect.
    pub(super) fn in_effect(&self) -> Option<&Link> {
        self.links.get(self.effective?)
    }

    /// The links, each with whether its value is in effect.
    pub(super) fn marked(&self) -> impl Iterator<Item = (bool, &Link)> {
        self.links.iter().enumerate().map(|(index, link)| (Some(index) == self.effective, link))
    }
}

/// What sets parameters of one source, the strongest first, and what announces defaults.
pub(super) struct Layers<'a> {
    /// What the Application's own file was when it was read, for `params set --if-version`.
    pub(super) version: Option<FileVersion>,
    documents: Vec<Layer<'a>>,
    defaults: Defaults<'a>,
}

/// One document that sets parameters.
struct Layer<'a> {
    origin: Origin,
    file: String,
    version: Option<FileVersion>,
    /// The places of what it sets itself.
    places: BTreeMap<String, Position>,
    /// The values after it.
    values: HashMap<&'a str, &'a Parameter>,
}

impl<'a> Layers<'a> {
    /// The layers of a source.
    pub(super) fn of(
        stored: &'a StoredApplication,
        source: &'a AnnouncedSource,
        defaults: Defaults<'a>,
    ) -> Self {
        let plugin = source.plugin.as_deref();
        let files = source.override_files.iter().rev().map(|file| Layer {
            origin: Origin::File,
            file: file.path.clone(),
            version: Some(FileVersion::of(&file.text)),
            places: parameter_places(&file.patch, plugin),
            values: by_name(&file.parameters),
        });
        let document = source.position.checked_sub(1).and_then(|index| source_node(&stored.node, index));
        let own = Layer {
            origin: Origin::Set,
            file: stored.place.file.to_string(),
            version: stored.version(),
            places: document.map(|document| parameter_places(document, plugin)).unwrap_or_default(),
            values: by_name(&source.own_parameters),
        };
        Self { version: stored.version(), documents: files.chain([own]).collect(), defaults }
    }

    /// The chain of a parameter; `value` is the one that is set in the end.
    pub(super) fn chain(
        &self,
        name: &str,
        announcement: Option<&Announcement>,
        value: Option<&Parameter>,
    ) -> Chain {
        let link = |layer: &Layer<'_>| {
            let value = value_of(layer.values.get(name)?);
            let position = layer.places.get(name).copied();
            // The values after a file are also those that it leaves alone.
            if layer.origin == Origin::File && position.is_none() {
                return None;
            }
            let location = Location { file: layer.file.clone(), position, version: layer.version };
            Some(Link { origin: layer.origin, value, location: Some(location) })
        };
        let mut links: Vec<Link> = self.documents.iter().filter_map(link).collect();
        let set = links.len();
        if let Some((announcement, value)) = announcement.and_then(|a| Some((a, a.default_value()?))) {
            links.push(Link {
                origin: Origin::Default,
                value: default_of(&value),
                location: self.defaults.location(announcement),
            });
        }
        // What is set comes first, so that the default is the first link behind it.
        let effective = if value.is_some() { 0 } else { set };
        Chain { effective: (effective < links.len()).then_some(effective), links }
    }
}

/// The parameters by their names: of one that is set twice the later one counts, as in the environment.
pub(super) fn by_name(parameters: &[Parameter]) -> HashMap<&str, &Parameter> {
    parameters.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect()
}

/// A default as JSON.
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
