//! Whether values of a chart and their parts fit the announced values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tiphys_engine::{InlineValues, NoPlaceError, SET_PREFIX, ValueParameters, ValuePath, is_structure};
use tiphys_model::params::{
    Announcement, ApplyError, Assignment, ItemType, JsonType, Parameter, ParameterValue, Types, check_value,
};
use tiphys_model::resources::ApplicationSource;

use super::request::RequestTarget;
use super::structures::{Action, Shown, announced, in_effect, json_type};
use super::{ParameterSource, value_name};
use crate::error::ServiceError;

impl RequestTarget<'_> {
    /// Refuses a string, number or boolean instead of a map of the chart.
    pub(super) fn require_scalar(&self, name: &str) -> Result<(), ServiceError> {
        let has_parts =
            |announced: &str| announced.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', '[']));
        let is_announced = self.announcements.iter().any(|one| one.name == name);
        if let Some(part) = self.announcements.iter().find(|one| has_parts(&one.name) && !is_announced) {
            return Err(ServiceError::invalid_input(format!(
                "{name}: the chart has a map or a list here; set one of its values, such as {}, or all of it as JSON: {name}:='…'",
                part.name
            )));
        }
        Ok(())
    }
}

impl ParameterSource {
    /// Refuses a value of another type than the announced one, and a part of a value without such parts.
    pub(super) fn require_fit(
        &self,
        name: &str,
        path: &ValuePath,
        action: &Action,
        announcements: &[Announcement],
    ) -> Result<(), ServiceError> {
        if let (Action::Set(value), Some(announcement)) = (action, announced(announcements, path))
            && let Some(string) = scalar_text(value).filter(|_| !is_structure(announcement))
        {
            let given = Parameter { name: name.to_owned(), string: Some(string), ..Parameter::default() };
            let problems = check_value(announcement, &given);
            if !problems.is_empty() {
                return Err(self.refused(&ApplyError::Problems(problems)));
            }
        }
        self.require_parents(path, announcements)?;
        let given = match action {
            Action::Set(Value::Number(number)) if !number.is_f64() => JsonType::Integer,
            Action::Set(value) => json_type(value),
            Action::Append(_) => JsonType::Array,
            Action::Remove => return Ok(()),
        };
        match announced(announcements, path).and_then(types_of) {
            Some(types) if !types.allow(given) && given != JsonType::Null => {
                Err(self.unfit(name, types, given.words()))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a key or an index of a string, a number or a boolean, a key of a list and an index of a map.
    fn require_parents(&self, path: &ValuePath, announcements: &[Announcement]) -> Result<(), ServiceError> {
        for (parent, is_index) in path.parents() {
            let (due, given) = if is_index {
                (JsonType::Array, "a list with items")
            } else {
                (JsonType::Object, "an object with keys")
            };
            match announced(announcements, &parent).and_then(types_with_parts) {
                Some(types) if !types.allow(due) => {
                    return Err(self.unfit(&format!("{SET_PREFIX}{parent}"), types, given));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses new parameters for parts that the values of a chart cannot have: see [`Self::require_parents`], and an index past the end of a
    /// list, which helm would fill with nulls. `set` are the parameters that are set, which may make a list longer.
    pub(super) fn require_parts<'n>(
        &self,
        new: impl Iterator<Item = &'n str>,
        values: Option<&InlineValues>,
        announcements: &[Announcement],
        set: &[Parameter],
    ) -> Result<(), ServiceError> {
        let Some(values) = values else { return Ok(()) };
        let path_of = |name: &str| Some(ValuePath::of_parameter(&value_name(name)?)?.ok()?.0);
        let names: BTreeSet<&str> = set.iter().map(|one| one.name.as_str()).collect();
        let new = new.filter(|name| !names.contains(name)).map(|name| (name, true));
        let mut lengths: BTreeMap<ValuePath, usize> = BTreeMap::new();
        for (name, is_new) in names.iter().map(|name| (*name, false)).chain(new) {
            let Some(path) = path_of(name) else { continue };
            if is_new {
                self.require_parents(&path, announcements)?;
            }
            for (list, index) in path.indexes() {
                let items = match in_effect(values, announcements, &list) {
                    Shown::Set(Value::Array(items)) | Shown::DefaultJson(Value::Array(items)) => Some(items),
                    _ => None,
                };
                let name = format!("{SET_PREFIX}{list}");
                let of_parameters = lengths.entry(list).or_default();
                let length = items.map(|items| items.len().max(*of_parameters));
                if let Some(length) = length.filter(|length| is_new && index > *length) {
                    let index = index.to_string();
                    return Err(self.refused(&ApplyError::NoIndex { name, index, length }));
                }
                *of_parameters = (*of_parameters).max(index + 1);
            }
        }
        Ok(())
    }

    /// Refuses a value that another parameter of the changed source hides.
    pub(super) fn require_winning(
        &self,
        after: &ApplicationSource,
        assignments: &[Assignment<ParameterValue>],
    ) -> Result<(), ServiceError> {
        let parameters = ValueParameters::of(after, self.source_type, self.plugin());
        let mut set = assignments.iter().filter(|one| one.value.is_some()).map(|one| &one.target.name);
        match set.find_map(|name| Some((name, parameters.winning_over(name)?))) {
            Some((name, other)) => Err(self.covered(name, other)),
            None => Ok(()),
        }
    }

    fn unfit(&self, name: &str, due: Types, given: &str) -> ServiceError {
        let error = NoPlaceError::Structure { name: name.to_owned(), due, given: given.to_owned() };
        ServiceError::invalid_input(self.stored.full_name()).because(error)
    }
}

/// Returns the text of a string, number or boolean.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the types of an announced value. A string may be a template of any value.
fn types_of(announcement: &Announcement) -> Option<Types> {
    match announcement.item_type {
        Some(ItemType::OneOf(types)) => Some(types),
        Some(ItemType::Number) => Types::of([JsonType::Number]),
        Some(ItemType::Boolean) => Types::of([JsonType::Boolean]),
        Some(ItemType::String(_)) | None => None,
    }
}

/// Returns the types that a value may have whose parts are set. The kind of an empty string is unknown.
fn types_with_parts(announcement: &Announcement) -> Option<Types> {
    let is_text = matches!(announcement.item_type, Some(ItemType::String(_)))
        && announcement.string.as_deref().is_some_and(|text| !text.is_empty());
    types_of(announcement).or_else(|| is_text.then(|| Types::of([JsonType::String])).flatten())
}
