//! Lists and maps of a chart, and their items: JSON, keys in brackets and appended items, which are set in the inline values.

use serde_json::Value;
use tiphys_engine::{
    HELM_VALUE_PREFIXES, InlineValues, InlineValuesError, NoPlaceError, ParameterPart, SET_PREFIX,
    ValueParameters, ValuePath, dynamic_parameter_places, inline_scalar, is_list_or_map, is_structure,
    parameter_places, shown_name, source_node, structure_default,
};
use tiphys_model::params::{
    Announcement, ApplyError, Assignment, Default, Edited, Form, InEffect, ItemType, JsonType, Operand,
    ParameterChange, ParameterValue, Part, Target,
};
use tiphys_model::resources::ApplicationSource;
use tiphys_render::MergedFile;
use tiphys_yaml::{Node, read_json};

use super::request::{RequestTarget, ValueAssignments, has_value_prefix};
use super::{ParameterSource, ValuePlace};
use crate::context::assignments;
use crate::context::host::Host;
use crate::error::ServiceError;
use crate::params::origin::ParameterLayers;

/// Significant digits that every floating-point number keeps.
const DIGITS_MAX: usize = 17;

/// A change of a list or a map of a chart, or of a part of one.
#[derive(Debug)]
pub(super) struct StructureAssignment {
    /// The parameter's name as it was written.
    name: String,
    path: ValuePath,
    action: Action,
}

#[derive(Debug)]
pub(super) enum Action {
    Set(Value),
    Append(Vec<Value>),
    Remove,
}

/// A source whose inline values were changed.
pub(super) struct Structured {
    pub(super) source: ApplicationSource,
    pub(super) changes: Vec<ParameterChange>,
    pub(super) warnings: Vec<String>,
}

impl RequestTarget<'_> {
    /// Returns whether a scalar belongs into the inline values: they set it and no parameter hides that, they are the only place with values
    /// of the chart, or a parameter cannot express it.
    fn is_in_effect_inline(&self, name: &str, bytes: &[u8], json: Option<&Value>) -> bool {
        let shown = shown_name(self.source, self.plugin, name);
        if !self.parameters.of_value(&shown).is_empty() {
            return false;
        }
        let Some(Ok((path, _))) = ValuePath::of_parameter(name) else { return false };
        let is_number = || {
            matches!(self.announcement(&path).and_then(|one| one.item_type.as_ref()), Some(ItemType::Number))
        };
        let is_set_text = || str::from_utf8(bytes).is_ok_and(|text| text.trim().parse::<i64>().is_ok());
        let is_expressible = match json {
            Some(Value::Null) => false,
            Some(Value::Number(number)) => number.is_i64(),
            Some(_) => true,
            None => !is_number() || is_set_text(),
        };
        let is_at_home = |values: &InlineValues| {
            let has_others = !values.is_empty() && !self.before.iter().any(|one| has_value_prefix(&one.name));
            values.get(&path).is_some() || has_others
        };
        !is_expressible || self.values.is_some_and(is_at_home)
    }
}

impl ValueAssignments {
    /// Adds an assignment of a chart's value.
    pub(super) fn add_value(
        &mut self,
        Assignment { target, value }: Assignment<Operand>,
        request: &RequestTarget<'_>,
        host: &Host,
    ) -> Result<(), ServiceError> {
        let Some(operand) = value else { return Ok(()) };
        let bytes = assignments::operand_bytes(&target, &operand, host)?;
        let json = match operand.form {
            Form::Text => None,
            Form::Json => Some(json(&target, &bytes)?),
        };
        let appends = target.part == Part::End;
        let path = ValuePath::of_parameter(&target.name);
        let path =
            path.map(|path| path.map(|(path, has_keys)| request.place_of(&target.name, &path, has_keys)));
        let is_inline = matches!(path, Some(Ok((_, true))));
        let is_scalar = !appends && !is_inline && !json.as_ref().is_some_and(is_list_or_map);
        let is_structure = !is_scalar
            || match request.place {
                ValuePlace::Parameters => false,
                ValuePlace::Inline => true,
                ValuePlace::Effective => request.is_in_effect_inline(&target.name, &bytes, json.as_ref()),
            };
        let Some(path) = path.filter(|_| is_structure) else {
            if json != Some(Value::Null) {
                request.require_scalar(&target.name)?;
            }
            return self.add_scalar(target, operand.form, &bytes, json.as_ref());
        };
        let (path, _) = path.map_err(|error| {
            ServiceError::invalid_input_from(NoPlaceError::Name(target.name.clone(), error))
        })?;
        let is_text = |one: &Announcement| matches!(one.item_type, Some(ItemType::String(_)));
        let value = match json {
            // As in a parameter, a number is its text where a string is expected.
            Some(Value::Number(_)) if is_scalar && request.announcement(&path).is_some_and(is_text) => {
                String::from_utf8_lossy(bytes.trim_ascii()).into()
            }
            Some(value) => value,
            None => match assignments::value_of(&target, operand.form, &bytes)? {
                ParameterValue::String(text) if is_scalar => {
                    request.require_scalar(&target.name)?;
                    inline_scalar(&text, request.announcement(&path))
                }
                ParameterValue::String(text) => Value::String(text),
                ParameterValue::Array(_) | ParameterValue::Map(_) => Value::Null,
            },
        };
        if value.is_number() {
            require_exact(&target, &bytes)?;
        }
        let action = match (appends, value) {
            (false, value) => Action::Set(value),
            (true, Value::Array(items)) => Action::Append(items),
            (true, item) => Action::Append(vec![item]),
        };
        self.structures.push(StructureAssignment { name: target.name, path, action });
        Ok(())
    }

    /// Adds a value of a file of values as an assignment in the inline values.
    pub(super) fn add_given(
        &mut self,
        name: &str,
        value: &ParameterValue,
        request: &RequestTarget<'_>,
    ) -> Result<(), ServiceError> {
        let path = match ValuePath::of_parameter(name) {
            Some(Ok((path, has_keys))) => request.place_of(name, &path, has_keys).0,
            Some(Err(error)) => {
                return Err(ServiceError::invalid_input_from(NoPlaceError::Name(name.to_owned(), error)));
            }
            None => return Ok(()),
        };
        let value = match value {
            ParameterValue::String(text) => {
                request.require_scalar(name)?;
                inline_scalar(text, request.announcement(&path))
            }
            ParameterValue::Array(items) => items.clone().into(),
            ParameterValue::Map(map) => {
                map.clone().into_iter().map(|(key, text)| (key, Value::String(text))).collect()
            }
        };
        self.structures.push(StructureAssignment { name: name.to_owned(), path, action: Action::Set(value) });
        Ok(())
    }

    /// Adds the assignment of a string, number, boolean or null, which `--set` can express.
    fn add_scalar(
        &mut self,
        target: Target,
        form: Form,
        bytes: &[u8],
        json: Option<&Value>,
    ) -> Result<(), ServiceError> {
        let value = match json {
            Some(Value::Null) => ParameterValue::String(JsonType::Null.word().to_owned()),
            _ => assignments::value_of(&target, form, bytes)?,
        };
        self.types.extend(json.map(|json| (target.name.clone(), json_type(json))));
        self.plain.push(Assignment { target, value: Some(value) });
        Ok(())
    }

    /// Adds the removal of a chart's value if it is in the inline values, or an item of a list or a map. Returns `false` otherwise. A value
    /// that is different in the values `below` is restored instead.
    pub(super) fn remove_value(
        &mut self,
        name: &str,
        values: &InlineValues,
        below: Option<&InlineValues>,
        announcements: &[Announcement],
    ) -> bool {
        let Some(Ok((written, has_keys))) = ValuePath::of_parameter(name) else { return false };
        let path = with_keys(&written, values, announcements);
        let is_here = has_keys
            || path != written
            || match in_effect(values, announcements, &path) {
                Shown::Set(_) => true,
                // An item of a list is removed from a copy of the list.
                Shown::DefaultJson(_) => path.outermost_list().is_some(),
                Shown::Default(_) | Shown::Nothing => false,
            };
        if is_here {
            let restored = below.and_then(|below| below.get(&path));
            let restored = restored.filter(|value| values.get(&path) != Some(value));
            let action = restored.map_or(Action::Remove, |value| Action::Set(value.clone()));
            self.structures.push(StructureAssignment { name: name.to_owned(), path, action });
        }
        is_here
    }
}

impl RequestTarget<'_> {
    /// Returns the announcement of a value.
    fn announcement(&self, path: &ValuePath) -> Option<&Announcement> {
        announced(self.announcements, path)
    }

    /// Returns the path with keys of maps, and whether it is set in the inline values: it has keys in brackets, or is an item of a list there.
    /// A parameter that is set already stays one.
    fn place_of(&self, name: &str, path: &ValuePath, has_keys: bool) -> (ValuePath, bool) {
        let Some(values) = self.values else { return (path.clone(), has_keys) };
        let with_keys = with_keys(path, values, self.announcements);
        let is_set = self.before.iter().any(|parameter| parameter.name == name);
        let is_in_list = || {
            let list = with_keys.outermost_list();
            list.is_some_and(|list| values.get(&list).is_some_and(Value::is_array))
        };
        let is_inline = has_keys || with_keys != *path || !is_set && is_in_list();
        (with_keys, is_inline)
    }
}

impl ParameterSource {
    /// Applies changes of lists and maps to a source. `dynamic` are the names of its dynamic parameters.
    pub(super) fn structured(
        &self,
        source: ApplicationSource,
        mut assignments: Vec<StructureAssignment>,
        announcements: &[Announcement],
        dynamic: &[String],
    ) -> Result<Structured, ServiceError> {
        let (mut changes, mut warnings) = (Vec::new(), Vec::new());
        if assignments.is_empty() {
            return Ok(Structured { source, changes, warnings });
        }
        reject_duplicates(&assignments).map_err(|error| self.refused(&error))?;
        // Indexes refer to the list before it becomes shorter, so removals are last, and begin with the last item.
        assignments.sort_by(|one, other| match (&one.action, &other.action) {
            (Action::Remove, Action::Remove) => other.path.cmp(&one.path),
            (one, other) => matches!(one, Action::Remove).cmp(&matches!(other, Action::Remove)),
        });
        let refused =
            |error: InlineValuesError| ServiceError::invalid_input(self.stored.full_name()).because(error);
        let mut values = InlineValues::of(&source, self.source_type, self.plugin()).map_err(refused)?;
        let documents = self.documents();
        // Lines are those of the values as they are written.
        let written = values.clone();
        for StructureAssignment { name, path, action } in assignments {
            if !matches!(action, Action::Remove) {
                self.require_uncovered(&source, &name, &path, dynamic)?;
                self.require_fit(&name, &path, &action, announcements)?;
                warnings.extend(self.unannounced(&path, &name, announcements)?);
            }
            let before =
                located(shown(in_effect(&values, announcements, &path)), &written, &path, documents.as_ref());
            let list = match action {
                Action::Append(_) => path.outermost_list().or_else(|| Some(path.clone())),
                Action::Set(_) | Action::Remove => path.outermost_list(),
            };
            let is_kept = matches!(before, InEffect::Default(_) | InEffect::DefaultJson(_));
            if let Some(list) = list
                && let Shown::DefaultJson(default @ Value::Array(_)) =
                    in_effect(&values, announcements, &list)
                && default.as_array().is_some_and(|items| !items.is_empty())
            {
                warnings.push(format!(
                    "`{SET_PREFIX}{list}`: the items of the default are written with the change, since helm replaces a list as a whole"
                ));
                values.set(&list, default).map_err(refused)?;
            }
            match action {
                Action::Set(value) => {
                    values.set(&path, value).map_err(refused)?;
                    let after = shown(in_effect(&values, announcements, &path));
                    changes.push(ParameterChange { target: Target::whole(&name), before, after });
                }
                Action::Append(items) => {
                    for (index, added) in values.append(&path, items).map_err(refused)? {
                        let part = Part::Item(index.to_string());
                        let after = shown(in_effect(&values, announcements, &added));
                        let target = Target { name: name.clone(), part };
                        changes.push(ParameterChange { target, before: InEffect::Nothing, after });
                    }
                }
                Action::Remove => {
                    let is_set = values.get(&path).is_some();
                    if before == InEffect::Nothing && announced(announcements, &path).is_none() {
                        return Err(self.refused(&ApplyError::NotSet { name, suggestions: Vec::new() }));
                    }
                    values.remove(&path).map_err(refused)?;
                    // The announced default is the value that was removed. A value that only the chart has stays.
                    let after = if is_kept && !is_set { before.clone() } else { InEffect::Nothing };
                    changes.push(ParameterChange { target: Target::whole(&name), before, after });
                }
            }
        }
        Ok(Structured { source: values.applied_to(&source), changes, warnings })
    }

    /// Refuses a value that a parameter sets too, or a part of it: helm lets the parameter win.
    fn require_uncovered(
        &self,
        source: &ApplicationSource,
        name: &str,
        path: &ValuePath,
        dynamic: &[String],
    ) -> Result<(), ServiceError> {
        let is_nested = |other: &&String| matches!(ValuePath::of_parameter(other), Some(Ok((other, _))) if other.is_nested(path));
        let parameters = ValueParameters::of(source, self.source_type, self.plugin());
        let covering =
            parameters.covering(path).or_else(|| dynamic.iter().find(is_nested).map(String::as_str));
        match covering {
            Some(other) => Err(self.covered(&format!("{name} in the inline values"), other)),
            None => Ok(()),
        }
    }

    /// Returns the error for a value that another parameter hides.
    pub(super) fn covered(&self, hidden: &str, by: &str) -> ServiceError {
        let place = self.place_of(by).map(|place| format!("{place}: ")).unwrap_or_default();
        ServiceError::invalid_input(format!(
            "{}: {place}the parameter {by} is set there and wins over {hidden}; unset it first",
            self.stored.full_name()
        ))
    }

    /// Refuses a value that the plugin does not announce and whose name is similar to an announced one. If the chart reads it, returns a
    /// warning.
    fn unannounced(
        &self,
        path: &ValuePath,
        name: &str,
        announcements: &[Announcement],
    ) -> Result<Option<String>, ServiceError> {
        let Some(own) = path.parameter() else { return Ok(None) };
        if announced(announcements, path).is_some() {
            return Ok(None);
        }
        let free_prefixes = &HELM_VALUE_PREFIXES;
        let edited =
            Edited { parameters: &[], announcements, names_are_free: false, free_prefixes, read_names: &[] };
        let read_names = &self.read_names(edited, [own.as_str()].into_iter());
        let edited = Edited { read_names, ..edited };
        let near = edited.similar(&own);
        let Some(first) = near.first() else { return Ok(None) };
        if !edited.accepts(&own) {
            let suggestions = near.into_iter().map(str::to_owned).collect();
            return Err(self.refused(&ApplyError::Unknown { name: name.to_owned(), suggestions }));
        }
        Ok(Some(format!("the plugin does not announce parameter `{name}`; did you mean `{first}`?")))
    }

    /// Returns the place of a set parameter: in an override file, else in the Application.
    fn place_of(&self, name: &str) -> Option<String> {
        let files = self.announced.iter().flat_map(|announced| announced.override_files.iter().rev());
        let position = |document: &Node| {
            let of_dynamic = || {
                let name = name.strip_prefix(SET_PREFIX)?;
                dynamic_parameter_places(document).get(name).copied()
            };
            parameter_places(document, self.plugin()).get(name).copied().or_else(of_dynamic)
        };
        let of_file = |file: &MergedFile| Some(format!("{}:{}", file.path, position(&file.patch)?));
        files.into_iter().find_map(of_file).or_else(|| {
            let document = source_node(&self.stored.node, self.position - 1)?;
            Some(format!("{}:{}", self.stored.place.file, position(document)?))
        })
    }
}

/// Returns the announcement of a value.
pub(super) fn announced<'a>(announcements: &'a [Announcement], path: &ValuePath) -> Option<&'a Announcement> {
    let name = path.parameter()?;
    announcements.iter().find(|announcement| announcement.name == name)
}

/// The value at a path.
pub(super) enum Shown {
    Nothing,
    Set(Value),
    Default(String),
    DefaultJson(Value),
}

/// Returns the inline value at a path, else the announced default.
pub(super) fn in_effect(values: &InlineValues, announcements: &[Announcement], path: &ValuePath) -> Shown {
    if let Some(value) = values.get(path) {
        return Shown::Set(value.clone());
    }
    if let Some(announcement) = announced(announcements, path) {
        return match (structure_default(announcement), announcement.default_value()) {
            (Some(value), _) if is_structure(announcement) => Shown::DefaultJson(value),
            (_, Some(Default::String(text))) => Shown::Default(text.to_owned()),
            _ => Shown::Nothing,
        };
    }
    let item = path.outermost_list().and_then(|list| {
        let default = structure_default(announced(announcements, &list)?)?;
        path.find_below(&list, &default).cloned()
    });
    item.map_or(Shown::Nothing, Shown::DefaultJson)
}

/// Returns a path with keys instead of indexes where a map is.
fn with_keys(path: &ValuePath, values: &InlineValues, announcements: &[Announcement]) -> ValuePath {
    path.with_keys_of(|path| {
        let value = in_effect(values, announcements, path);
        matches!(value, Shown::Set(Value::Object(_)) | Shown::DefaultJson(Value::Object(_)))
    })
}

fn shown(value: Shown) -> InEffect {
    match value {
        Shown::Nothing => InEffect::Nothing,
        Shown::Set(Value::String(text)) => InEffect::Set(ParameterValue::String(text)),
        Shown::Set(value) => InEffect::Json(value),
        Shown::Default(text) | Shown::DefaultJson(Value::String(text)) => {
            InEffect::Default(ParameterValue::String(text))
        }
        Shown::DefaultJson(value) => InEffect::DefaultJson(value),
    }
}

/// Returns a value with its place, if it is one of the inline values.
fn located(
    value: InEffect,
    values: &InlineValues,
    path: &ValuePath,
    documents: Option<&ParameterLayers<'_>>,
) -> InEffect {
    let place = || {
        values.get(path)?;
        let (name, path, line) = values.part(path);
        let (_, location) = documents?.part(name, ParameterPart { name, path: &path, line })?;
        Some(location.line())
    };
    match place() {
        Some(place) => InEffect::At(Box::new(value), place),
        None => value,
    }
}

/// Rejects two assignments of one value.
fn reject_duplicates(assignments: &[StructureAssignment]) -> Result<(), ApplyError> {
    let is_append = |one: &StructureAssignment| matches!(one.action, Action::Append(_));
    for (index, one) in assignments.iter().enumerate() {
        if assignments[..index]
            .iter()
            .any(|other| other.path == one.path && !(is_append(one) && is_append(other)))
        {
            return Err(ApplyError::Twice(Target::whole(&one.name)));
        }
    }
    Ok(())
}

/// Parses JSON. A key that is given twice is an error.
fn json(target: &Target, bytes: &[u8]) -> Result<Value, ServiceError> {
    let invalid = |reason: String| assignments::refused(target, &reason);
    let node = read_json(bytes).map_err(|error| {
        invalid(format!("the value is not valid JSON ({error}); write a string as NAME=VALUE"))
    })?;
    if let Some((path, _)) = node.repeated_keys().first() {
        return Err(invalid(format!("the key `{path}` of the value is given twice")));
    }
    let value = node.to_value();
    if is_list_or_map(&value) {
        require_exact(target, bytes)?;
    }
    Ok(value)
}

/// Refuses a number that would lose digits.
fn require_exact(target: &Target, bytes: &[u8]) -> Result<(), ServiceError> {
    let Some(number) = inexact_number(&String::from_utf8_lossy(bytes)).map(str::to_owned) else {
        return Ok(());
    };
    let reason = format!("the number {number} has more digits than helm keeps; write it as a string");
    Err(assignments::refused(target, &reason))
}

/// Returns the first number of JSON that does not keep its digits as a 64-bit integer or as a floating-point number.
fn inexact_number(json: &str) -> Option<&str> {
    let mut rest = json;
    while let Some(start) = rest.find(|char: char| char == '"' || char == '-' || char.is_ascii_digit()) {
        rest = &rest[start..];
        if rest.starts_with('"') {
            rest = after_string(rest);
            continue;
        }
        let end = rest.find(|char: char| !char.is_ascii_digit() && !"+-.eE".contains(char));
        let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
        let is_integer = number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
        let is_fraction = number.contains(['.', 'e', 'E']);
        let digits = number.split(['e', 'E']).next().unwrap_or_default().chars().filter(char::is_ascii_digit);
        let significant = digits.skip_while(|digit| *digit == '0').count();
        if !is_integer && (!is_fraction || significant > DIGITS_MAX) {
            return Some(number);
        }
        rest = after;
    }
    None
}

/// Returns what follows a string of JSON.
fn after_string(json: &str) -> &str {
    let mut is_escaped = false;
    for (at, char) in json.char_indices().skip(1) {
        match char {
            '"' if !is_escaped => return &json[at + 1..],
            char => is_escaped = char == '\\' && !is_escaped,
        }
    }
    ""
}

pub(super) fn json_type(value: &Value) -> JsonType {
    match value {
        Value::Null => JsonType::Null,
        Value::Bool(_) => JsonType::Boolean,
        Value::Number(_) => JsonType::Number,
        Value::String(_) => JsonType::String,
        Value::Array(_) => JsonType::Array,
        Value::Object(_) => JsonType::Object,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_with_too_many_digits_are_found() {
        for (json, expected) in [
            (r#"{"a":12345678901234567890,"b":"123456789012345678901234567890"}"#, None),
            (r#"{"a":123456789012345678901}"#, Some("123456789012345678901")),
            (r#"[-1.5e300, 0.1, "\"1.000000000000000000001", 1]"#, None),
            (r#"{"f":0.1000000000000000055511151231257827}"#, Some("0.1000000000000000055511151231257827")),
        ] {
            assert_eq!(super::inexact_number(json), expected, "{json}");
        }
    }
}
