//! The origin of a parameter's value: everything that sets it, and which of these is effective.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use tiphys_engine::{
    LookUp, ParameterPart, dynamic_parameter_places, parameter_part_place, parameter_places, source_node,
};
use tiphys_model::params::{Announcement, Default, Parameter};
use tiphys_model::resources::{
    ApplicationSource, DYNAMIC_PARAMETERS_ANNOTATION, DynamicParameter, ResourceReference,
};
use tiphys_render::AnnouncedSource;
use tiphys_store::{FileVersion, StoredApplication};
use tiphys_yaml::{Node, Position};

use super::defaults::Defaults;

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterOrigin {
    /// The default in the announcement.
    Default,
    /// An override file in the repository.
    File,
    /// The Application.
    Set,
    /// An object of the destination cluster.
    Dynamic,
}

impl ParameterOrigin {
    /// Returns the lower-case name: `default`, `file`, `set` or `dynamic`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Set => "set",
            Self::Dynamic => "dynamic",
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
    /// The origin.
    pub origin: ParameterOrigin,
    /// The origin in the words of the plugin, which looked into its files and other parameters: `value-file`, `chart-default`.
    pub kind: Option<String>,
    /// The value: `{"string" | "array" | "map": …}`; `null` if it is read from a cluster.
    pub value: Value,
    /// The object and field that are read from a cluster.
    pub reference: Option<ResourceReference>,
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

    /// Adds what a plugin found in its files and other parameters. `position` is the number of those that take precedence over the
    /// parameter's own settings. They replace the announced default.
    pub(super) fn explained(self, mut found: Vec<OriginLink>, position: usize) -> Self {
        if found.is_empty() {
            return self;
        }
        let is_set = self.effective().is_some_and(|link| link.origin != ParameterOrigin::Default);
        let own: Vec<OriginLink> =
            self.links.into_iter().filter(|link| link.origin != ParameterOrigin::Default).collect();
        let (position, effective) = if is_set { (position.min(found.len()), 0) } else { (0, own.len()) };
        found.splice(position..position, own);
        Self { links: found, effective: Some(effective) }
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
    /// The source in the document.
    node: Option<&'a Node>,
    /// The bytes of an override file.
    text: Option<&'a [u8]>,
    /// The places of the parameters that the document sets itself.
    places: BTreeMap<String, Position>,
    /// The values after the document was applied.
    values: HashMap<&'a str, &'a Parameter>,
    /// The places of the dynamic parameters that the document sets itself.
    dynamic_places: BTreeMap<String, Position>,
    /// The dynamic parameters after the document was applied.
    dynamic: &'a [DynamicParameter],
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
            node: Some(&file.patch),
            text: Some(&file.text),
            places: parameter_places(&file.patch, plugin),
            values: by_name(&file.parameters),
            dynamic_places: dynamic_parameter_places(&file.patch),
            dynamic: &file.dynamic_parameters,
        });
        let document = source.position.checked_sub(1).and_then(|index| source_node(&stored.node, index));
        let own_source = source
            .position
            .checked_sub(1)
            .and_then(|index| stored.application.spec.effective_sources().get(index));
        let annotated: &[DynamicParameter] =
            own_source.map(|source| source.annotated_parameters.as_slice()).unwrap_or_default();
        let own = DocumentLayer {
            origin: ParameterOrigin::Set,
            file: stored.place.file.to_string(),
            version: stored.version(),
            node: document,
            text: None,
            places: document.map(|document| parameter_places(document, plugin)).unwrap_or_default(),
            values: by_name(&source.own_parameters),
            dynamic_places: document.map(dynamic_parameter_places).unwrap_or_default(),
            dynamic: own_source.map(ApplicationSource::dynamic_parameters).unwrap_or_default(),
        };
        let annotation = stored.node.at(["metadata", "annotations", DYNAMIC_PARAMETERS_ANNOTATION]);
        let annotation = DocumentLayer {
            origin: ParameterOrigin::Set,
            file: own.file.clone(),
            version: own.version,
            node: None,
            text: None,
            places: BTreeMap::new(),
            values: HashMap::new(),
            dynamic_places: annotated
                .iter()
                .zip(annotation)
                .map(|(entry, node)| (entry.name.clone(), node.position))
                .collect(),
            dynamic: annotated,
        };
        let documents = files.chain([own, annotation]).collect();
        Self { version: stored.version(), documents, defaults }
    }

    /// Returns the place of a part of a parameter's value, in the document that is effective. `own_text` is the Application's file.
    pub(super) fn part(
        &self,
        shown: &str,
        part: ParameterPart<'_>,
        own_text: &[u8],
    ) -> Option<ParameterLocation> {
        let layer = self.documents.iter().find(|layer| layer.places.contains_key(shown))?;
        let text = layer.text.unwrap_or(own_text);
        let position = layer.node.and_then(|node| parameter_part_place(node, part, text));
        let position = position.or_else(|| layer.places.get(shown).copied());
        Some(ParameterLocation { file: layer.file.clone(), position, version: layer.version })
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
            Some(OriginLink {
                origin: layer.origin,
                kind: None,
                value,
                reference: None,
                location: Some(location),
            })
        };
        let mut links: Vec<OriginLink> = self.documents.iter().filter_map(link).collect();
        let set = links.len();
        links.extend(self.default_link(announcement));
        // The default follows the links that set a value.
        let effective = if value.is_some() { 0 } else { set };
        OriginChain { effective: (effective < links.len()).then_some(effective), links }
    }

    /// Returns the settings of a dynamic parameter. A list in an override file replaces that of the Application, and its annotation adds to
    /// either.
    pub(super) fn dynamic_chain(
        &self,
        name: &str,
        announcement: Option<&Announcement>,
        look_up: &LookUp,
    ) -> OriginChain {
        let link = |layer: &DocumentLayer<'_>| {
            let position = layer.dynamic_places.get(look_up.name()).copied();
            // The list after a file is that of the Application if the file has none.
            if layer.origin == ParameterOrigin::File && position.is_none() {
                return None;
            }
            let entry = layer.dynamic.iter().find(|entry| entry.name == look_up.name())?;
            let location = ParameterLocation { file: layer.file.clone(), position, version: layer.version };
            Some(OriginLink {
                origin: ParameterOrigin::Dynamic,
                kind: None,
                value: Value::Null,
                reference: Some(entry.resource_ref.clone()),
                location: Some(location),
            })
        };
        let mut links: Vec<OriginLink> = self.documents.iter().filter_map(link).collect();
        links.extend(self.chain(name, announcement, None).links);
        OriginChain { effective: Some(0), links }
    }

    fn default_link(&self, announcement: Option<&Announcement>) -> Option<OriginLink> {
        let announcement = announcement?;
        Some(OriginLink {
            origin: ParameterOrigin::Default,
            kind: None,
            value: default_of(&announcement.default_value()?),
            reference: None,
            location: self.defaults.location(announcement),
        })
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
