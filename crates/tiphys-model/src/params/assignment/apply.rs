//! Applying assignments to a list of parameters, with validation against the announcements.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Assignment, ParameterValue, Part, Target};
use crate::params::suggest::suggest;
use crate::params::{Announcement, Default, Parameter, Problem, Shape, check_value};

/// The parameters to change, with the rules for them.
#[derive(Clone, Copy, Debug)]
pub struct Edited<'a> {
    /// The parameters of the object that will be changed.
    pub parameters: &'a [Parameter],
    /// The plugin's announcements.
    pub announcements: &'a [Announcement],
    /// Whether unannounced names are permitted: nothing is announced, or the plugin was not queried.
    pub names_are_free: bool,
    /// Prefixes of names that need no announcement: a chart accepts values that it does not announce. A name that is similar to an announced
    /// one is permitted if it is in `read_names`.
    pub free_prefixes: &'a [&'a str],
    /// Names with these prefixes that have an effect.
    pub read_names: &'a [String],
}

impl Edited<'_> {
    /// Whether a name is permitted without an announcement.
    pub fn accepts(&self, name: &str) -> bool {
        self.names_are_free
            || self.has_free_prefix(name)
                && (self.read_names.iter().any(|read| read == name)
                    || self.has_announced_alias(name)
                    || self.similar(name).is_empty())
    }

    fn has_free_prefix(&self, name: &str) -> bool {
        self.free_part(name).is_some()
    }

    /// Whether the name with another free prefix is announced: both set the same value.
    fn has_announced_alias(&self, name: &str) -> bool {
        self.free_part(name).is_some_and(|part| self.announced().any(|one| self.free_part(one) == Some(part)))
    }

    /// Returns similar announced names, the most similar first. Free prefixes are not compared. None if the name is that of a part of an
    /// announced value, or of a value around it.
    pub fn similar(&self, name: &str) -> Vec<&str> {
        let part_of = |name| self.free_part(name).unwrap_or(name);
        let parts: HashMap<&str, &str> = self.announced().map(|one| (part_of(one), one)).collect();
        let is_within =
            |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with(['.', '[']));
        let part = part_of(name);
        if parts.keys().any(|known| is_within(part, known) || is_within(known, part)) {
            return Vec::new();
        }
        suggest(part, parts.keys().copied()).into_iter().map(|part| parts[part]).collect()
    }

    fn announced(&self) -> impl Iterator<Item = &str> {
        self.announcements.iter().map(|announcement| announcement.name.as_str())
    }

    /// Returns the name without its free prefix.
    fn free_part<'n>(&self, name: &'n str) -> Option<&'n str> {
        self.free_prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))
    }
}

/// The outcome of [`apply`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The new list.
    pub parameters: Vec<Parameter>,
    /// The changes of the assignments in their order, including those without effect.
    pub changes: Vec<ParameterChange>,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// The change that an assignment makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterChange {
    /// The changed part.
    pub target: Target,
    /// The effective value before.
    pub before: InEffect,
    /// The effective value after.
    pub after: InEffect,
}

/// The effective value of a part of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InEffect {
    /// No value.
    Nothing,
    /// The announced default.
    Default(ParameterValue),
    /// The set value.
    Set(ParameterValue),
    /// A value that is read from a cluster: its object and field. [`apply`] returns none.
    Dynamic(String),
    /// The announced default of a list or a map of any JSON values. [`apply`] returns none.
    DefaultJson(serde_json::Value),
    /// A list or a map of any JSON values, or a part of one. [`apply`] returns none.
    Json(serde_json::Value),
    /// A value that another layer than the parameter sets, and its file and line. [`apply`] returns none.
    At(Box<InEffect>, String),
}

/// An invalid assignment. Nothing is changed in this case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The parameter is unknown.
    #[error("the plugin announces no parameter {name:?}")]
    Unknown {
        /// The name.
        name: String,
        /// Similar names, the most similar first.
        suggestions: Vec<String>,
    },
    /// The parameter to unset is unknown.
    #[error("parameter {name:?} is neither set nor announced")]
    NotSet {
        /// The name.
        name: String,
        /// Similar names, the most similar first.
        suggestions: Vec<String>,
    },
    /// The value's type differs from the parameter's.
    #[error("parameter {name:?} is {due}, not {given}")]
    Kind {
        /// The name.
        name: String,
        /// The parameter's type, with an article.
        due: &'static str,
        /// The value's type, with an article.
        given: &'static str,
        /// The syntax to use.
        remedy: String,
    },
    /// An item of a string.
    #[error("parameter {name:?} is a string and has no items")]
    NoItems {
        /// The name.
        name: String,
    },
    /// The index is out of range.
    #[error("parameter {name:?} has no item [{index}]: {}; {name}+=VALUE appends one", items(*length))]
    NoIndex {
        /// The name.
        name: String,
        /// The index as written.
        index: String,
        /// Number of items.
        length: usize,
    },
    /// The key does not exist in the map.
    #[error("parameter {name:?} has no key {key:?}")]
    NoKey {
        /// The name.
        name: String,
        /// The key.
        key: String,
        /// Similar keys.
        suggestions: Vec<String>,
    },
    /// The same part is assigned twice.
    #[error("{0} is given twice")]
    Twice(Target),
    /// The result is invalid for the plugin.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Problems(Vec<Problem>),
}

fn items(length: usize) -> String {
    match length {
        0 => "it is empty".to_owned(),
        1 => "its only item is [0]".to_owned(),
        _ => format!("its items are [0] to [{}]", length - 1),
    }
}

/// Applies assignments in order. The changed parameters must match the announcements; otherwise nothing is changed.
///
/// If a list is not set, changing an item also sets the other items of the announced default, with a warning, because a plugin gets a list
/// as a whole. In a map, only the key is set.
pub fn apply(edited: Edited<'_>, assignments: &[Assignment<ParameterValue>]) -> Result<Applied, ApplyError> {
    reject_duplicates(assignments)?;
    let mut editor = Editor::of(edited);
    let mut changes = Vec::with_capacity(assignments.len());
    for position in order(assignments) {
        let mut made = Vec::new();
        editor.execute(&assignments[position], &mut made)?;
        changes.extend(made.into_iter().map(|change| (position, change)));
    }
    changes.sort_by_key(|(position, _)| *position);
    let changes = changes.into_iter().map(|(_, change)| change).collect();
    let mut problems = Vec::new();
    for name in changed_names(assignments) {
        let Some(announcement) = editor.announcement(name) else { continue };
        let nothing = Parameter { name: name.to_owned(), ..Parameter::default() };
        problems.extend(check_value(announcement, editor.parameter(name).unwrap_or(&nothing)));
    }
    if !problems.is_empty() {
        return Err(ApplyError::Problems(problems));
    }
    let warnings = editor.warnings(assignments);
    Ok(Applied { parameters: editor.list.into_iter().flatten().collect(), changes, warnings })
}

/// Rejects duplicate assignments of a part, and a whole value after a part of it, which it would discard.
fn reject_duplicates(assignments: &[Assignment<ParameterValue>]) -> Result<(), ApplyError> {
    let mut seen: HashSet<&Target> = HashSet::new();
    let mut begun: HashSet<&str> = HashSet::new();
    for Assignment { target, .. } in assignments {
        let again = target.part != Part::End && !seen.insert(target);
        let hides = target.part == Part::Whole && begun.contains(target.name.as_str());
        if again || hides {
            return Err(ApplyError::Twice(target.clone()));
        }
        begun.insert(&target.name);
    }
    Ok(())
}

/// Returns the order in which assignments are applied, as indexes: as given, but removals from one list start with its last item, so that
/// every index refers to the original list.
fn order(assignments: &[Assignment<ParameterValue>]) -> Vec<usize> {
    let removed_index =
        |assignment: &Assignment<ParameterValue>| match (&assignment.value, &assignment.target.part) {
            (None, Part::Item(item)) => index_of(item),
            _ => None,
        };
    let mut removals: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (position, assignment) in assignments.iter().enumerate() {
        if let Some(index) = removed_index(assignment) {
            removals.entry(&assignment.target.name).or_default().push((index, position));
        }
    }
    // Popped from the end, so the highest index is first.
    for of_name in removals.values_mut() {
        of_name.sort_unstable();
    }
    let next = |(index, assignment): (usize, &Assignment<ParameterValue>)| match removed_index(assignment) {
        Some(_) => {
            let of_name = removals.get_mut(assignment.target.name.as_str());
            of_name.and_then(Vec::pop).map_or(index, |(_, index)| index)
        }
        None => index,
    };
    assignments.iter().enumerate().map(next).collect()
}

/// Returns the changed names, each once.
fn changed_names(assignments: &[Assignment<ParameterValue>]) -> Vec<&str> {
    let mut seen = HashSet::new();
    assignments
        .iter()
        .map(|assignment| assignment.target.name.as_str())
        .filter(|name| seen.insert(*name))
        .collect()
}

/// The list during the changes.
struct Editor<'a> {
    edited: Edited<'a>,
    announcements: HashMap<&'a str, &'a Announcement>,
    /// Removed entries leave a gap, so that positions are stable.
    list: Vec<Option<Parameter>>,
    /// Positions of the entries of each name, in order.
    positions: HashMap<String, Vec<usize>>,
    /// Lists that were initialized with the announced default.
    defaulted: HashSet<String>,
}

impl<'a> Editor<'a> {
    fn of(edited: Edited<'a>) -> Self {
        let mut positions: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, parameter) in edited.parameters.iter().enumerate() {
            positions.entry(parameter.name.clone()).or_default().push(position);
        }
        let announcements = edited
            .announcements
            .iter()
            .rev()
            .map(|announcement| (announcement.name.as_str(), announcement))
            .collect();
        let list = edited.parameters.iter().cloned().map(Some).collect();
        Self { edited, announcements, list, positions, defaulted: HashSet::new() }
    }

    fn announcement(&self, name: &str) -> Option<&'a Announcement> {
        self.announcements.get(name).copied()
    }

    /// Returns the effective entry: the last of duplicates.
    fn parameter(&self, name: &str) -> Option<&Parameter> {
        let position = *self.positions.get(name)?.last()?;
        self.list.get(position)?.as_ref()
    }

    fn execute(
        &mut self,
        assignment: &Assignment<ParameterValue>,
        changes: &mut Vec<ParameterChange>,
    ) -> Result<(), ApplyError> {
        let target = &assignment.target;
        let Target { name, part } = target;
        let is_known = self.announcement(name).is_some() || self.parameter(name).is_some();
        if !is_known && assignment.value.is_none() {
            return Err(ApplyError::NotSet { name: name.clone(), suggestions: self.suggestions(name) });
        }
        if !is_known && !self.edited.accepts(name) {
            return Err(ApplyError::Unknown { name: name.clone(), suggestions: self.suggestions(name) });
        }
        let before = self.in_effect(target);
        match (&assignment.value, part) {
            (None, Part::Whole | Part::End) => self.remove(name),
            (None, Part::Item(item)) => {
                self.remove_item(name, item)?;
                // The following items move up, so the item now at this index is a different one.
                let is_kept = matches!(before, InEffect::Default(_)) && self.kind(name) == Some(Shape::Map);
                let after = if is_kept { before.clone() } else { InEffect::Nothing };
                changes.push(ParameterChange { target: target.clone(), before, after });
                return Ok(());
            }
            (Some(value), Part::Whole) => self.set(name, value)?,
            (Some(value), Part::Item(item)) => self.set_item(name, item, value)?,
            (Some(value), Part::End) => {
                for index in self.append(name, value)? {
                    let target = Target { name: name.clone(), part: Part::Item(index.to_string()) };
                    let after = self.in_effect(&target);
                    changes.push(ParameterChange { target, before: InEffect::Nothing, after });
                }
                return Ok(());
            }
        }
        changes.push(ParameterChange { target: target.clone(), before, after: self.in_effect(target) });
        Ok(())
    }

    fn suggestions(&self, name: &str) -> Vec<String> {
        let set = self.positions.keys().map(String::as_str);
        let suggestions = if self.edited.has_free_prefix(name) {
            self.edited.similar(name)
        } else {
            suggest(name, self.announcements.keys().copied().chain(set))
        };
        suggestions.into_iter().map(str::to_owned).collect()
    }

    /// Removes all entries of a name; an earlier duplicate would become effective otherwise.
    fn remove(&mut self, name: &str) {
        for position in self.positions.remove(name).unwrap_or_default() {
            if let Some(entry) = self.list.get_mut(position) {
                *entry = None;
            }
        }
    }

    fn set(&mut self, name: &str, value: &ParameterValue) -> Result<(), ApplyError> {
        if let Some(expected) = self.kind(name)
            && expected != Shape::of_value(value)
        {
            return Err(mismatch(name, expected, Shape::of_value(value)));
        }
        self.put(name, value.clone());
        Ok(())
    }

    /// Appends the items of a value and returns their indexes.
    fn append(&mut self, name: &str, value: &ParameterValue) -> Result<Vec<usize>, ApplyError> {
        let expected = self.kind(name).unwrap_or(Shape::List);
        let items = match (expected, value) {
            (Shape::List, ParameterValue::String(text)) => std::slice::from_ref(text),
            (Shape::List, ParameterValue::Array(items)) => items,
            (Shape::List, ParameterValue::Map(_)) => return Err(mismatch(name, Shape::List, Shape::Map)),
            (expected, _) => return Err(mismatch(name, expected, Shape::List)),
        };
        let list = self.list_mut(name);
        let first = list.len();
        list.extend(items.iter().cloned());
        Ok((first..list.len()).collect())
    }

    fn set_item(&mut self, name: &str, item: &str, value: &ParameterValue) -> Result<(), ApplyError> {
        let ParameterValue::String(text) = value else {
            return Err(mismatch(&format!("{name}[{item}]"), Shape::Single, Shape::of_value(value)));
        };
        // For a new name of unknown type, a number is an index of an empty list.
        let guess = if index_of(item).is_some() { Shape::List } else { Shape::Map };
        match self.kind(name).unwrap_or(guess) {
            Shape::Single => return Err(ApplyError::NoItems { name: name.to_owned() }),
            Shape::List => {
                let index = self.index(name, item)?;
                text.clone_into(&mut self.list_mut(name)[index]);
            }
            Shape::Map if item.is_empty() => return Err(self.no_key(name, item)),
            Shape::Map => {
                self.map_mut(name).insert(item.to_owned(), text.clone());
            }
        }
        Ok(())
    }

    fn remove_item(&mut self, name: &str, item: &str) -> Result<(), ApplyError> {
        let guess = if index_of(item).is_some() { Shape::List } else { Shape::Map };
        match self.kind(name).unwrap_or(guess) {
            Shape::Single => return Err(ApplyError::NoItems { name: name.to_owned() }),
            Shape::List => {
                let index = self.index(name, item)?;
                self.list_mut(name).remove(index);
            }
            Shape::Map => {
                match self.in_effect(&Target { name: name.to_owned(), part: Part::Item(item.to_owned()) }) {
                    InEffect::Nothing | InEffect::Dynamic(_) => return Err(self.no_key(name, item)),
                    // The key is not set, so there is nothing to remove.
                    InEffect::Default(_) | InEffect::DefaultJson(_) | InEffect::At(..) => {}
                    InEffect::Set(_) | InEffect::Json(_) => {
                        self.map_mut(name).remove(item);
                    }
                }
            }
        }
        Ok(())
    }

    fn no_key(&self, name: &str, key: &str) -> ApplyError {
        let map = map_of(self.value(name));
        let suggestions =
            suggest(key, map.keys().map(String::as_str)).into_iter().map(str::to_owned).collect();
        ApplyError::NoKey { name: name.to_owned(), key: key.to_owned(), suggestions }
    }

    /// Returns the index of an existing item.
    fn index(&self, name: &str, item: &str) -> Result<usize, ApplyError> {
        let length = match self.parameter(name).and_then(|parameter| parameter.array.as_ref()) {
            Some(list) => list.len(),
            None => list_of(self.value(name)).len(),
        };
        index_of(item).filter(|index| *index < length).ok_or_else(|| ApplyError::NoIndex {
            name: name.to_owned(),
            index: item.to_owned(),
            length,
        })
    }

    /// Returns the list of a parameter to change it. A default is copied first; a value of another type is removed.
    fn list_mut(&mut self, name: &str) -> &mut Vec<String> {
        let default = if self.parameter(name).is_none() { list_of(self.value(name)) } else { Vec::new() };
        if !default.is_empty() {
            self.defaulted.insert(name.to_owned());
        }
        let parameter = self.entry(name);
        (parameter.string, parameter.map) = (None, None);
        parameter.array.get_or_insert(default)
    }

    /// Returns the map of a parameter to change it; a value of another type is removed. A default is not copied, because the plugin adds
    /// keys that the map does not have.
    fn map_mut(&mut self, name: &str) -> &mut BTreeMap<String, String> {
        let parameter = self.entry(name);
        (parameter.string, parameter.array) = (None, None);
        parameter.map.get_or_insert_default()
    }

    /// Replaces the value of the effective entry, or adds an entry.
    fn put(&mut self, name: &str, value: ParameterValue) {
        let parameter = self.entry(name);
        *parameter = Parameter { name: name.to_owned(), ..Parameter::default() };
        match value {
            ParameterValue::String(text) => parameter.string = Some(text),
            ParameterValue::Array(list) => parameter.array = Some(list),
            ParameterValue::Map(map) => parameter.map = Some(map),
        }
    }

    /// Returns the effective entry; appends a new one if there is none.
    fn entry(&mut self, name: &str) -> &mut Parameter {
        let positions = self.positions.entry(name.to_owned()).or_default();
        let position = positions.last().copied().unwrap_or(self.list.len());
        if position == self.list.len() {
            positions.push(position);
            self.list.push(None);
        }
        self.list[position].get_or_insert_with(|| Parameter { name: name.to_owned(), ..Parameter::default() })
    }

    /// Returns the type of a parameter: as announced, else as set. `None` for a new one.
    fn kind(&self, name: &str) -> Option<Shape> {
        if let Some(announcement) = self.announcement(name) {
            return Some(Shape::of(announcement.collection_type));
        }
        self.parameter(name).and_then(|parameter| Fields::of(parameter).kind())
    }

    /// Returns the effective value: the set value in the announced field, else the announced default.
    fn value(&self, name: &str) -> Option<ParameterValue> {
        match self.in_effect(&Target::whole(name)) {
            InEffect::Nothing
            | InEffect::Dynamic(_)
            | InEffect::DefaultJson(_)
            | InEffect::Json(_)
            | InEffect::At(..) => None,
            InEffect::Default(value) | InEffect::Set(value) => Some(value),
        }
    }

    fn in_effect(&self, target: &Target) -> InEffect {
        if let Some(parameter) = self.parameter(&target.name) {
            let value = part_of(Fields::of(parameter), self.kind(&target.name), &target.part);
            return value.map_or(InEffect::Nothing, InEffect::Set);
        }
        let Some(announcement) = self.announcement(&target.name) else { return InEffect::Nothing };
        let fields = match announcement.default_value() {
            Some(Default::String(text)) => Fields { text: Some(text), ..Fields::default() },
            Some(Default::Array(list)) => Fields { list: Some(list), ..Fields::default() },
            Some(Default::Map(map)) => Fields { map: Some(map), ..Fields::default() },
            None => return InEffect::Nothing,
        };
        part_of(fields, None, &target.part).map_or(InEffect::Nothing, InEffect::Default)
    }

    fn warnings(&self, assignments: &[Assignment<ParameterValue>]) -> Vec<String> {
        let mut warnings = Vec::new();
        for name in changed_names(assignments) {
            let Some(positions) = self.positions.get(name) else { continue };
            if positions.len() > 1 {
                warnings.push(format!(
                    "parameter `{name}` is set {} times; the last entry was changed, which is the one that its variables have",
                    positions.len()
                ));
            }
            if self.defaulted.contains(name) {
                warnings.push(format!(
                    "parameter `{name}`: the announced default is written with the change, since a list is set as a whole"
                ));
            }
            let is_announced = self.announcement(name).is_some() || self.edited.has_announced_alias(name);
            if !is_announced && !self.edited.names_are_free {
                let near = self.edited.similar(name);
                let is_free = self.edited.has_free_prefix(name);
                match near.first() {
                    // Possibly a typo.
                    Some(near) if is_free => warnings.push(format!(
                        "the plugin does not announce parameter `{name}`; did you mean `{near}`?"
                    )),
                    None if is_free => {}
                    _ => warnings.push(format!("the plugin does not announce parameter `{name}`")),
                }
            }
        }
        warnings
    }
}

fn mismatch(name: &str, expected: Shape, given: Shape) -> ApplyError {
    ApplyError::Kind {
        name: name.to_owned(),
        due: expected.words(),
        given: given.words(),
        remedy: remedy(name, expected),
    }
}

/// Returns the syntax for a value of this type.
fn remedy(name: &str, expected: Shape) -> String {
    match expected {
        Shape::Single => format!("write {name}=VALUE"),
        Shape::List => format!("write {name}+=VALUE, {name}[0]=VALUE or {name}:='[\"TEXT\"]'"),
        Shape::Map => format!("write {name}[KEY]=VALUE or {name}:='{{\"KEY\":\"TEXT\"}}'"),
    }
}

/// The value fields of a parameter or an announcement.
#[derive(Clone, Copy, std::default::Default)]
struct Fields<'a> {
    text: Option<&'a str>,
    list: Option<&'a [String]>,
    map: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Fields<'a> {
    fn of(parameter: &'a Parameter) -> Self {
        Self {
            text: parameter.string.as_deref(),
            list: parameter.array.as_deref(),
            map: parameter.map.as_ref(),
        }
    }

    /// Returns the type of the first set field.
    fn kind(self) -> Option<Shape> {
        let list_or_map = || self.list.map(|_| Shape::List).or(self.map.map(|_| Shape::Map));
        self.text.map(|_| Shape::Single).or_else(list_or_map)
    }
}

/// Returns a part of the value in the field of this type, else in the first set field.
fn part_of(fields: Fields<'_>, kind: Option<Shape>, part: &Part) -> Option<ParameterValue> {
    let text = |text: &str| ParameterValue::String(text.to_owned());
    match (kind.or_else(|| fields.kind())?, part) {
        (Shape::Single, Part::Item(_)) => None,
        (Shape::Single, _) => fields.text.map(text),
        (Shape::List, Part::Item(item)) => fields.list?.get(index_of(item)?).map(|item| text(item)),
        (Shape::List, _) => fields.list.map(|list| ParameterValue::Array(list.to_vec())),
        (Shape::Map, Part::Item(key)) => fields.map?.get(key).map(|value| text(value)),
        (Shape::Map, _) => fields.map.map(|map| ParameterValue::Map(map.clone())),
    }
}

fn list_of(value: Option<ParameterValue>) -> Vec<String> {
    match value {
        Some(ParameterValue::Array(list)) => list,
        _ => Vec::new(),
    }
}

fn map_of(value: Option<ParameterValue>) -> BTreeMap<String, String> {
    match value {
        Some(ParameterValue::Map(map)) => map,
        _ => BTreeMap::new(),
    }
}

/// Parses an index: digits only.
fn index_of(item: &str) -> Option<usize> {
    if item.bytes().all(|byte| byte.is_ascii_digit()) { item.parse().ok() } else { None }
}

impl std::fmt::Display for ParameterValue {
    /// Formats the value as one line: an unambiguous string as it is; other strings, lists and maps as JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::String(text) if is_clear(text) => f.write_str(text),
            Self::String(text) => f.write_str(&json(&serde_json::json!(text))),
            Self::Array(list) => f.write_str(&json(&serde_json::json!(list))),
            Self::Map(map) => f.write_str(&json(&serde_json::json!(map))),
        }
    }
}

fn json(value: &serde_json::Value) -> String {
    value.to_string()
}

/// Whether a string is unambiguous without quotes.
fn is_clear(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.starts_with(['"', '[', '{'])
        && !text.chars().any(char::is_control)
        && text != NOT_SET
}

/// Printed for a part without a value.
const NOT_SET: &str = "not set";

impl std::fmt::Display for InEffect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str(NOT_SET),
            Self::Default(value) => write!(f, "{value} (default)"),
            Self::Set(value) => write!(f, "{value}"),
            Self::Dynamic(reference) => write!(f, "(dynamic) {reference}"),
            Self::DefaultJson(value) => write!(f, "{value} (default)"),
            Self::Json(value) => write!(f, "{value}"),
            Self::At(value, place) => match &**value {
                Self::Default(value) => write!(f, "{value} ({place})"),
                Self::DefaultJson(value) => write!(f, "{value} ({place})"),
                value => write!(f, "{value} ({place})"),
            },
        }
    }
}

impl std::fmt::Display for ParameterChange {
    /// `replicas: 3 → 5`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} → {}", self.target, self.before, self.after)
    }
}

impl ApplyError {
    /// Returns how to correct the error, if known.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Unknown { suggestions, .. }
            | Self::NotSet { suggestions, .. }
            | Self::NoKey { suggestions, .. }
                if !suggestions.is_empty() =>
            {
                Some(format!("did you mean {}?", suggestions.join(" or ")))
            }
            Self::Kind { remedy, .. } => Some(remedy.clone()),
            _ => None,
        }
    }
}
