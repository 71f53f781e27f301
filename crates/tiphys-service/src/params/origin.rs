//! The origin of a parameter's value: everything that sets it, and which of these is effective.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use tiphys_engine::{
    FileLines, LookUp, Owner, ParameterPart, PartPlace, dynamic_parameter_places, parameter_part_place,
    parameter_places, source_node,
};
use tiphys_model::params::{Announcement, Default, Parameter};
use tiphys_model::resources::{
    ApplicationSource, DYNAMIC_PARAMETERS_ANNOTATION, DynamicParameter, ResourceReference,
};
use tiphys_render::AnnouncedSource;
use tiphys_store::{FILE_BYTES_MAX, FileVersion, StoredApplication};
use tiphys_tree::read_bounded;
use tiphys_yaml::{Node, Position};

use super::defaults::Defaults;

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterOrigin {
    /// The default in the announcement.
    Default,
    /// The values of the chart.
    ChartDefault,
    /// The values of a subchart.
    SubchartDefault,
    /// A value file that the Application names.
    ValueFile,
    /// The inline values of the Application.
    Inline,
    /// A parameter of the Application.
    Set,
    /// An Application that an ApplicationSet generates.
    ApplicationSet,
    /// An override file in the repository.
    Override,
    /// An object of the destination cluster.
    Dynamic,
}

impl ParameterOrigin {
    /// Returns the name in JSON: `default`, `file` (an override file), `set` (the Application) or `dynamic`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default | Self::ChartDefault | Self::SubchartDefault => "default",
            Self::ValueFile | Self::Inline | Self::Set | Self::ApplicationSet => "set",
            Self::Override => "file",
            Self::Dynamic => "dynamic",
        }
    }

    /// Returns the words for users.
    pub fn words(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::ChartDefault => "chart default",
            Self::SubchartDefault => "subchart default",
            Self::ValueFile => "value-file",
            Self::Inline => "inline",
            Self::Set => "set",
            Self::ApplicationSet => "set of ApplicationSet",
            Self::Override => "override",
            Self::Dynamic => "dynamic",
        }
    }

    /// Whether the value is a default of a plugin or a chart.
    pub fn is_default(self) -> bool {
        matches!(self, Self::Default | Self::ChartDefault | Self::SubchartDefault)
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

impl OriginLink {
    /// Returns the origin in the words of the plugin, if these are its own, else in those for users.
    pub fn words(&self) -> &str {
        let own = self.kind.as_deref().filter(|kind| *kind != PARAMETER_KIND && !self.is_of_chart());
        own.unwrap_or_else(|| self.origin.words())
    }

    /// Whether it is one of the layers from which a chart's values are merged.
    pub(super) fn is_of_chart(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| origin_of_kind(kind).is_some())
    }
}

/// The kind of a layer that is another parameter.
const PARAMETER_KIND: &str = "parameter";

/// The kind of a layer that is the inline values of a chart.
pub(super) const INLINE_KIND: &str = "inline-values";

/// Returns the origin of a layer of this kind, in the Application or in files. `None` for kinds that only the plugin knows.
pub(super) fn origin_of_kind(kind: &str) -> Option<ParameterOrigin> {
    match kind {
        INLINE_KIND => Some(ParameterOrigin::Inline),
        "value-file" => Some(ParameterOrigin::ValueFile),
        "chart-default" | "parent-chart" => Some(ParameterOrigin::ChartDefault),
        "subchart-default" | "imported" => Some(ParameterOrigin::SubchartDefault),
        _ => None,
    }
}

impl OriginChain {
    /// Returns the effective setting.
    pub fn effective(&self) -> Option<&OriginLink> {
        self.links.get(self.effective?)
    }

    /// Adds what a plugin found in its files and other parameters. `position` is the number of those that take precedence over the
    /// parameter's own settings. They replace the announced default. If that is the value of the first one, it stays the effective value of an
    /// unset parameter: a layer only has its own part of a list or an object.
    pub(super) fn explained(self, mut found: Vec<OriginLink>, position: usize, is_announced: bool) -> Self {
        if found.is_empty() {
            return self;
        }
        let is_set = self.effective().is_some_and(|link| !link.origin.is_default());
        let (defaults, own): (Vec<OriginLink>, Vec<OriginLink>) =
            self.links.into_iter().partition(|link| link.origin.is_default());
        let (position, effective) = if is_set { (position.min(found.len()), 0) } else { (0, own.len()) };
        let announced = defaults.into_iter().next().filter(|_| !is_set && is_announced);
        // A plugin announces an empty string as a string without a value, but its layer has it.
        if let Some((first, announced)) = found.first_mut().zip(announced) {
            first.value = announced.value;
        }
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
    stored: &'a StoredApplication,
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
    /// The lines of the file, once they are needed.
    lines: OnceCell<FileLines>,
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
            origin: ParameterOrigin::Override,
            file: file.path.clone(),
            version: Some(FileVersion::of(&file.text)),
            node: Some(&file.patch),
            text: Some(&file.text),
            lines: OnceCell::new(),
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
        let is_generated = stored.generated_by.is_some()
            || matches!(Owner::of(&stored.node), Some(Owner::ApplicationSet(_)));
        let own = DocumentLayer {
            origin: if is_generated { ParameterOrigin::ApplicationSet } else { ParameterOrigin::Set },
            file: stored.place.file.to_string(),
            version: stored.version(),
            node: document,
            text: None,
            lines: OnceCell::new(),
            places: document.map(|document| parameter_places(document, plugin)).unwrap_or_default(),
            values: by_name(&source.own_parameters),
            dynamic_places: document.map(dynamic_parameter_places).unwrap_or_default(),
            dynamic: own_source.map(ApplicationSource::dynamic_parameters).unwrap_or_default(),
        };
        let annotation = stored.node.at(["metadata", "annotations", DYNAMIC_PARAMETERS_ANNOTATION]);
        let annotation = DocumentLayer {
            origin: own.origin,
            file: own.file.clone(),
            version: own.version,
            node: None,
            text: None,
            lines: OnceCell::new(),
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
        Self { version: stored.version(), stored, documents, defaults }
    }

    /// Returns the place of a part of a parameter's value and the origin of the document: the first that has the part, else the first that
    /// sets the parameter.
    pub(super) fn part(
        &self,
        shown: &str,
        part: ParameterPart<'_>,
    ) -> Option<(ParameterOrigin, ParameterLocation)> {
        let setting = || self.documents.iter().filter(|layer| layer.places.contains_key(shown));
        let found = setting().find_map(|layer| match self.place_in(layer, part) {
            Some(PartPlace::Exact(position)) => Some((layer, position)),
            _ => None,
        });
        let (layer, position) = found.or_else(|| {
            let layer = setting().next()?;
            let place = self.place_in(layer, part);
            let around = place.map(PartPlace::position);
            Some((layer, around.or_else(|| layer.places.get(shown).copied())?))
        })?;
        let location =
            ParameterLocation { file: layer.file.clone(), position: Some(position), version: layer.version };
        Some((layer.origin, location))
    }

    fn place_in(&self, layer: &DocumentLayer<'_>, part: ParameterPart<'_>) -> Option<PartPlace> {
        let lines = layer.lines.get_or_init(|| match layer.text {
            Some(text) => FileLines::of(text),
            None => FileLines::of(&file_of(self.stored).unwrap_or_default()),
        });
        parameter_part_place(layer.node?, part, lines)
    }

    /// Returns the set value of a parameter; `null` if no document sets it.
    pub(super) fn value(&self, name: &str) -> Value {
        self.documents
            .iter()
            .find_map(|layer| layer.values.get(name))
            .map_or(Value::Null, |set| value_of(set))
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
            if layer.origin == ParameterOrigin::Override && position.is_none() {
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
            if layer.origin == ParameterOrigin::Override && position.is_none() {
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

/// Returns the bytes of an Application's file, if it was not changed since the positions in it were read.
fn file_of(stored: &StoredApplication) -> Option<Vec<u8>> {
    let text = read_bounded(stored.place.file.path()?, FILE_BYTES_MAX).ok()??;
    (stored.version() == Some(FileVersion::of(&text))).then_some(text)
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
