//! The inline values of a chart: `valuesObject` or the YAML text `values` of a `helm` block, and the parameters `values-object` and `values`
//! of a `plugin` block for the Helm plugin.
//!
//! Lists and maps are set here, because an entry of `parameters` has one string. The text of `values` is changed if the block has it, else
//! the object. Argo CD ignores the text beside an object, so there are never both.

use std::mem;

use serde_json::{Map, Value};
use tiphys_helm_values::PathItem;
use tiphys_model::params::{Announcement, ItemType, JsonType};
use tiphys_model::resources::{ApplicationSource, HelmSource};
use tiphys_yaml::{
    Change, EditError, NewValue, Step, Target, edit, read_document, read_documents, read_json,
};

use super::shown::plugin_values;
use super::value_path::ValuePath;
use super::{SET_PREFIX, VALUE_PREFIX, text_parameter};
use crate::parameter_place::nearest_position;
use crate::{HELM_PLUGIN, SourceType};

/// Names of the plugin's parameters with inline values.
const OBJECT_PARAMETER: &str = "values-object";
const TEXT_PARAMETER: &str = "values";

/// The inline values of a source while they are changed.
#[derive(Clone, Debug)]
pub struct InlineValues {
    place: Place,
    /// The document to edit. `None` for an object of the Application, which is compared field by field.
    text: Option<String>,
    values: Value,
}

/// Where a source has its inline values, or would get them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// `helm.valuesObject`.
    Object,
    /// `helm.values`.
    Text,
    /// The plugin's parameter with JSON.
    ObjectParameter,
    /// The plugin's parameter with YAML.
    TextParameter,
}

/// Inline values that cannot be changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InlineValuesError {
    /// The text is invalid.
    #[error("{place} is not valid YAML, so no value can be set in it")]
    Syntax {
        /// The field or parameter.
        place: &'static str,
        /// The error with its position in the text.
        #[source]
        source: tiphys_yaml::Error,
    },
    /// The values are not an object.
    #[error("{place} must be a map of values, found {found}")]
    NotAMap {
        /// The field or parameter.
        place: &'static str,
        /// The type that was found.
        found: &'static str,
    },
    /// Several documents.
    #[error("{place} has {count} YAML documents, so the place of a value is not clear; merge them")]
    Documents {
        /// The field or parameter.
        place: &'static str,
        /// Their number.
        count: usize,
    },
    /// A part of the path has another type.
    #[error("{place}: {path} is {found}, expected {wanted}")]
    WrongType {
        /// The field or parameter.
        place: &'static str,
        /// The path of the part.
        path: String,
        /// The type that was found, with an article.
        found: &'static str,
        /// The required type, with an article.
        wanted: &'static str,
    },
    /// The index is out of range.
    #[error("{place}: {path} has {length} items, and no item [{index}]; set.{path}+:=JSON appends one")]
    NoItem {
        /// The field or parameter.
        place: &'static str,
        /// The path of the list.
        path: String,
        /// The index.
        index: usize,
        /// The number of items.
        length: usize,
    },
    /// The text cannot be changed.
    #[error("{place} cannot be changed")]
    Edit {
        /// The field or parameter.
        place: &'static str,
        /// The reason.
        #[source]
        source: EditError,
    },
}

impl Place {
    fn words(self) -> &'static str {
        match self {
            Self::Object => "`helm.valuesObject`",
            Self::Text => "`helm.values`",
            Self::ObjectParameter => "the parameter `values-object`",
            Self::TextParameter => "the parameter `values`",
        }
    }
}

impl InlineValues {
    /// Returns the values of a source that has none.
    pub fn empty() -> Self {
        Self { place: Place::Object, text: None, values: Value::Object(Map::new()) }
    }

    /// Reads the inline values of a source of this type. `plugin` is the name of the chosen plugin.
    pub fn of(
        source: &ApplicationSource,
        source_type: SourceType,
        plugin: Option<&str>,
    ) -> Result<Self, InlineValuesError> {
        if source_type == SourceType::Plugin {
            let list = plugin_values(source, plugin).unwrap_or_default();
            let last = |name: &str| {
                let text = list.iter().rfind(|one| one.name == name)?.string.as_deref()?;
                Some(text.to_owned()).filter(|text| !matches!(text.trim(), "" | "null"))
            };
            return match (last(OBJECT_PARAMETER), last(TEXT_PARAMETER)) {
                (None, Some(text)) => Self::of_text(Place::TextParameter, text),
                (object, _) => {
                    Self::of_text(Place::ObjectParameter, object.unwrap_or_else(|| "{}".to_owned()))
                }
            };
        }
        let none = HelmSource::default();
        let block = source.helm.as_ref().unwrap_or(&none);
        match &block.values_object {
            None if !block.values.is_empty() => Self::of_text(Place::Text, block.values.clone()),
            object => {
                let values = object.clone().unwrap_or_else(|| Value::Object(Map::new()));
                Self::of_values(Place::Object, None, values)
            }
        }
    }

    fn of_text(place: Place, text: String) -> Result<Self, InlineValuesError> {
        let words = place.words();
        let node = if place == Place::ObjectParameter {
            read_json(text.as_bytes()).map(Some)
        } else {
            match read_documents(text.as_bytes()) {
                Ok(documents) if documents.len() > 1 => {
                    return Err(InlineValuesError::Documents { place: words, count: documents.len() });
                }
                documents => documents.map(|documents| documents.into_iter().next()),
            }
        };
        let node = node.map_err(|source| InlineValuesError::Syntax { place: words, source })?;
        let values = node.map_or(Value::Null, |node| node.to_value());
        Self::of_values(place, Some(text), values)
    }

    fn of_values(place: Place, text: Option<String>, values: Value) -> Result<Self, InlineValuesError> {
        let values = if values.is_null() { Value::Object(Map::new()) } else { values };
        if values.is_object() {
            return Ok(Self { place, text, values });
        }
        Err(InlineValuesError::NotAMap { place: place.words(), found: type_words(&values) })
    }

    /// Returns all values.
    pub(super) fn values(&self) -> &Value {
        &self.values
    }

    /// Returns the name of the Helm plugin's parameter for these values.
    pub(super) fn parameter(&self) -> &'static str {
        match self.place {
            Place::Object | Place::ObjectParameter => OBJECT_PARAMETER,
            Place::Text | Place::TextParameter => TEXT_PARAMETER,
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.as_object().is_none_or(serde_json::Map::is_empty)
    }

    /// Returns the value at this path.
    pub fn get(&self, path: &ValuePath) -> Option<&Value> {
        path.find(&self.values)
    }

    /// Returns the parameter of the Helm plugin with these values, the steps to the value at a path in it, and its line if they are a string.
    pub fn part(&self, path: &ValuePath) -> (&'static str, Vec<Step>, Option<usize>) {
        let steps = path.steps();
        let document = self.text.as_ref().and_then(|text| read_document(text.as_bytes()).ok()?);
        let line = document.map(|document| nearest_position(&document, &steps).position().line);
        (self.parameter(), steps, line)
    }

    /// Sets a value, and creates the objects above it. An index may be one above the last one of the list.
    pub fn set(&mut self, path: &ValuePath, value: Value) -> Result<(), InlineValuesError> {
        let change = self.put(path, value)?;
        self.edit(&[change])
    }

    /// Sets a value in the values only. Returns the change of the text.
    fn put(&mut self, path: &ValuePath, value: Value) -> Result<Change, InlineValuesError> {
        let place = self.place.words();
        let mut at = &mut self.values;
        for (level, item) in path.items().iter().enumerate() {
            let parent = || ValuePath::of_items(&path.items()[..level]).to_string();
            if at.is_null() {
                *at = match item {
                    PathItem::Key(_) => Value::Object(Map::new()),
                    PathItem::Index(_) => Value::Array(Vec::new()),
                };
            }
            at = match (at, item) {
                (Value::Object(map), PathItem::Key(key)) => map.entry(key.clone()).or_insert(Value::Null),
                (Value::Array(items), PathItem::Index(index)) => {
                    let length = items.len();
                    if *index == length {
                        items.push(Value::Null);
                    }
                    items.get_mut(*index).ok_or_else(|| InlineValuesError::NoItem {
                        place,
                        path: parent(),
                        index: *index,
                        length,
                    })?
                }
                (found, item) => {
                    let wanted = match item {
                        PathItem::Key(_) => "a map",
                        PathItem::Index(_) => "a list",
                    };
                    let found = type_words(found);
                    return Err(InlineValuesError::WrongType { place, path: parent(), found, wanted });
                }
            };
        }
        *at = value.clone();
        Ok(Change::Set { path: path.steps(), value: NewValue::from(value) })
    }

    /// Appends items to a list, which is created if it does not exist. Returns their indexes and paths.
    pub fn append(
        &mut self,
        path: &ValuePath,
        items: Vec<Value>,
    ) -> Result<Vec<(usize, ValuePath)>, InlineValuesError> {
        let length = match self.get(path) {
            None | Some(Value::Null) => 0,
            Some(Value::Array(items)) => items.len(),
            Some(other) => {
                return Err(InlineValuesError::WrongType {
                    place: self.place.words(),
                    path: path.to_string(),
                    found: type_words(other),
                    wanted: "a list",
                });
            }
        };
        let (mut added, mut changes) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        if items.is_empty() && length == 0 {
            changes.push(self.put(path, Value::Array(Vec::new()))?);
        }
        for (index, item) in (length..).zip(items) {
            let path = path.with_index(index);
            changes.push(self.put(&path, item)?);
            added.push((index, path));
        }
        self.edit(&changes)?;
        Ok(added)
    }

    /// Removes a value, and the maps above it that become empty, up to an item of a list. Without the value, nothing changes.
    pub fn remove(&mut self, path: &ValuePath) -> Result<(), InlineValuesError> {
        if self.get(path).is_none() {
            return Ok(());
        }
        let mut path = path.clone();
        while let Some((parent, PathItem::Key(_))) = path.split_last() {
            let is_only = self.get(&parent).and_then(Value::as_object).is_some_and(|map| map.len() == 1);
            // Without an item of a list, the others would have other positions.
            let is_item = matches!(parent.split_last(), Some((_, PathItem::Index(_))));
            if parent.is_root() || !is_only || is_item {
                break;
            }
            path = parent;
        }
        let Some((parent, last)) = path.split_last() else { return Ok(()) };
        match (find_mut(&mut self.values, parent.items()), last) {
            (Some(Value::Object(map)), PathItem::Key(key)) => {
                map.remove(key);
            }
            (Some(Value::Array(items)), PathItem::Index(index)) => {
                items.remove(*index);
            }
            _ => return Ok(()),
        }
        self.edit(&[Change::Remove { path: path.steps() }])
    }

    fn edit(&mut self, changes: &[Change]) -> Result<(), InlineValuesError> {
        let Some(text) = &mut self.text else { return Ok(()) };
        let place = self.place.words();
        let edited = edit(text.as_bytes(), Target::FirstDocument, changes)
            .map_err(|source| InlineValuesError::Edit { place, source })?;
        // An edit of a string is a string.
        *text = String::from_utf8_lossy(&edited).into_owned();
        Ok(())
    }

    /// Returns the source with these values. Without any value, the field or parameter is removed, unless it hides another one.
    pub fn applied_to(self, source: &ApplicationSource) -> ApplicationSource {
        let mut changed = source.clone();
        let Self { place, text, values } = self;
        let is_empty = values.as_object().is_some_and(Map::is_empty);
        let text = text.unwrap_or_default();
        // Comments stay.
        let is_blank = is_empty && matches!(text.trim(), "" | "{}");
        match place {
            Place::Object => {
                let block = changed.helm.get_or_insert_default();
                block.values_object = (!is_empty || !block.values.is_empty()).then_some(values);
            }
            Place::Text => {
                let block = changed.helm.get_or_insert_default();
                block.values = if is_blank { String::new() } else { text };
            }
            Place::ObjectParameter | Place::TextParameter => {
                let name = if place == Place::ObjectParameter { OBJECT_PARAMETER } else { TEXT_PARAMETER };
                let block = changed.plugin.get_or_insert_default();
                let mut list = mem::take(&mut block.parameters).unwrap_or_default();
                let hides = place == Place::ObjectParameter
                    && list.iter().any(|one| one.name == TEXT_PARAMETER && one.string.is_some());
                let text = if hides && is_blank { "{}".to_owned() } else { text };
                match list.iter_mut().rfind(|one| one.name == name) {
                    _ if is_blank && !hides => list.retain(|one| one.name != name),
                    Some(known) => known.string = Some(text),
                    None => list.push(text_parameter("", name, &text)),
                }
                let had_list = source.plugin.as_ref().is_some_and(|block| block.parameters.is_some());
                let is_needless = list.is_empty() && (is_blank || !had_list);
                block.parameters = (!is_needless).then_some(list);
            }
        }
        changed
    }
}

/// Returns the announcements of a plugin by the names under which users set the parameters.
pub fn shown_announcements(plugin: Option<&str>, announcements: Vec<Announcement>) -> Vec<Announcement> {
    let shown = |one: Announcement| Announcement { name: shown_announced_name(plugin, one.name), ..one };
    announcements.into_iter().map(shown).collect()
}

/// Returns the name under which users set an announced parameter: the Helm plugin takes a list or a map as JSON with the prefix `value.`,
/// but users see every value of a chart with the prefix `set.`.
pub fn shown_announced_name(plugin: Option<&str>, name: String) -> String {
    match name.strip_prefix(VALUE_PREFIX) {
        Some(path) if plugin == Some(HELM_PLUGIN) => format!("{SET_PREFIX}{path}"),
        _ => name,
    }
}

/// Returns whether an announced value of a chart is a list or a map, which is set as JSON.
pub fn is_structure(announcement: &Announcement) -> bool {
    let Some(ItemType::OneOf(types)) = announcement.item_type else { return false };
    let is_structural = types.allow(JsonType::Array) || types.allow(JsonType::Object);
    announcement.name.starts_with(SET_PREFIX)
        && is_structural
        && match &announcement.string {
            Some(_) => structure_default(announcement).is_some(),
            None => !types.allow(JsonType::String),
        }
}

/// Returns the announced default of a list or a map.
pub fn structure_default(announcement: &Announcement) -> Option<Value> {
    let text = announcement.string.as_deref().filter(|text| text.starts_with(['[', '{']))?;
    read_json(text.as_bytes()).ok().map(|node| node.to_value()).filter(is_list_or_map)
}

/// Whether a value is set as a list or a map.
pub fn is_list_or_map(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

fn find_mut<'a>(values: &'a mut Value, path: &[PathItem]) -> Option<&'a mut Value> {
    path.iter().try_fold(values, |value, item| match item {
        PathItem::Key(key) => value.as_object_mut()?.get_mut(key),
        PathItem::Index(index) => value.as_array_mut()?.get_mut(*index),
    })
}

fn type_words(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests;
