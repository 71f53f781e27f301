//! What a list of parameters becomes by assignments, held to what is announced.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Assignment, ParameterValue, Part, Target};
use crate::suggest::suggest;
use crate::{Announcement, Default, Parameter, Problem, Shape, check_value};

/// What assignments are applied to.
#[derive(Clone, Copy, Debug)]
pub struct Edited<'a> {
    /// What is set where the change will be written.
    pub parameters: &'a [Parameter],
    /// What the plugin announces.
    pub announcements: &'a [Announcement],
    /// Whether names that are not announced are free: nothing is announced, or nobody was asked.
    pub names_are_free: bool,
    /// What names begin with that are free in any case: a chart takes values that it does not list.
    pub free_prefixes: &'a [&'a str],
}

impl Edited<'_> {
    /// Whether a name need not be announced.
    fn is_free(&self, name: &str) -> bool {
        self.names_are_free || self.free_prefixes.iter().any(|prefix| name.starts_with(prefix))
    }
}

/// The outcome of [`apply`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The list as it is to be.
    pub parameters: Vec<Parameter>,
    /// What each assignment changes, in their order; one that changes nothing is among them.
    pub changes: Vec<ParameterChange>,
    /// What a person should know though nothing is wrong.
    pub warnings: Vec<String>,
}

/// What one assignment changes, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterChange {
    /// The part.
    pub target: Target,
    /// What is in effect before.
    pub before: InEffect,
    /// What is in effect after.
    pub after: InEffect,
}

/// What a plugin's user sees as the value of a part of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InEffect {
    /// Nothing.
    Nothing,
    /// The announced default.
    Default(ParameterValue),
    /// What is set.
    Set(ParameterValue),
}

/// An assignment that cannot be followed. Nothing is changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// No such parameter.
    #[error("the plugin announces no parameter {name:?}")]
    Unknown {
        /// The name.
        name: String,
        /// The nearest names, nearest first.
        suggestions: Vec<String>,
    },
    /// The value is of another kind than the parameter's.
    #[error("parameter {name:?} is {due}, not {given}")]
    Kind {
        /// The name.
        name: String,
        /// What it is, with an article.
        due: &'static str,
        /// What was given, with an article.
        given: &'static str,
        /// How to write it.
        remedy: String,
    },
    /// A text has no items.
    #[error("parameter {name:?} is a text and has no items")]
    NoItems {
        /// The name.
        name: String,
    },
    /// No such item of a list.
    #[error("parameter {name:?} has no item [{index}]: {}; {name}+=TEXT appends one", items(*length))]
    NoIndex {
        /// The name.
        name: String,
        /// The index as it was written.
        index: String,
        /// How many items there are.
        length: usize,
    },
    /// No such key of a map.
    #[error("parameter {name:?} has no key {key:?}")]
    NoKey {
        /// The name.
        name: String,
        /// The key.
        key: String,
        /// The nearest keys.
        suggestions: Vec<String>,
    },
    /// The same part twice.
    #[error("{0} is given twice")]
    Twice(Target),
    /// The result is not what the plugin accepts.
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

/// Applies assignments one after the other. The result holds the plugin's announcements where it was touched, or nothing is changed.
///
/// An item of a list that is not set is one of the announced default: the rest of the default is then set with it, and a warning says
/// so, since a plugin gets a list as a whole. Of a map only the key is set.
pub fn apply(edited: Edited<'_>, assignments: &[Assignment<ParameterValue>]) -> Result<Applied, ApplyError> {
    require_each_once(assignments)?;
    let mut work = Work::of(edited);
    let mut changes = Vec::with_capacity(assignments.len());
    for place in order(assignments) {
        let mut made = Vec::new();
        work.follow(&assignments[place], &mut made)?;
        changes.extend(made.into_iter().map(|change| (place, change)));
    }
    changes.sort_by_key(|(place, _)| *place);
    let changes = changes.into_iter().map(|(_, change)| change).collect();
    let mut problems = Vec::new();
    for name in ordered(assignments) {
        let Some(announcement) = work.announcement(name) else { continue };
        let nothing = Parameter { name: name.to_owned(), ..Parameter::default() };
        problems.extend(check_value(announcement, work.parameter(name).unwrap_or(&nothing)));
    }
    if !problems.is_empty() {
        return Err(ApplyError::Problems(problems));
    }
    let warnings = work.warnings(assignments);
    Ok(Applied { parameters: work.list.into_iter().flatten().collect(), changes, warnings })
}

/// Refuses a part that is given twice, and a whole value behind a part of it, which it would throw away.
fn require_each_once(assignments: &[Assignment<ParameterValue>]) -> Result<(), ApplyError> {
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

/// The places of the assignments in the order in which they are followed: as they are given, but of several items of one list that are
/// taken away the last item first, so that each index means the list that the person saw.
fn order(assignments: &[Assignment<ParameterValue>]) -> Vec<usize> {
    let removed_index =
        |assignment: &Assignment<ParameterValue>| match (&assignment.value, &assignment.target.part) {
            (None, Part::Item(item)) => index_of(item),
            _ => None,
        };
    let mut removals: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (place, assignment) in assignments.iter().enumerate() {
        if let Some(index) = removed_index(assignment) {
            removals.entry(&assignment.target.name).or_default().push((index, place));
        }
    }
    // Taken from the end, which is the highest index.
    for of_name in removals.values_mut() {
        of_name.sort_unstable();
    }
    let next = |(place, assignment): (usize, &Assignment<ParameterValue>)| match removed_index(assignment) {
        Some(_) => {
            let of_name = removals.get_mut(assignment.target.name.as_str());
            of_name.and_then(Vec::pop).map_or(place, |(_, place)| place)
        }
        None => place,
    };
    assignments.iter().enumerate().map(next).collect()
}

/// The names that were touched, each once.
fn ordered(assignments: &[Assignment<ParameterValue>]) -> Vec<&str> {
    let mut seen = HashSet::new();
    assignments
        .iter()
        .map(|assignment| assignment.target.name.as_str())
        .filter(|name| seen.insert(*name))
        .collect()
}

/// The list while it is changed.
struct Work<'a> {
    edited: Edited<'a>,
    announcements: HashMap<&'a str, &'a Announcement>,
    /// Entries that are taken away leave a gap, so that places stay.
    list: Vec<Option<Parameter>>,
    /// The places of each name, in order.
    places: HashMap<String, Vec<usize>>,
    /// The lists that were begun with the announced default.
    defaulted: HashSet<String>,
}

impl<'a> Work<'a> {
    fn of(edited: Edited<'a>) -> Self {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, parameter) in edited.parameters.iter().enumerate() {
            places.entry(parameter.name.clone()).or_default().push(place);
        }
        let announcements = edited
            .announcements
            .iter()
            .rev()
            .map(|announcement| (announcement.name.as_str(), announcement))
            .collect();
        let list = edited.parameters.iter().cloned().map(Some).collect();
        Self { edited, announcements, list, places, defaulted: HashSet::new() }
    }

    fn announcement(&self, name: &str) -> Option<&'a Announcement> {
        self.announcements.get(name).copied()
    }

    /// The entry that counts: of several the last.
    fn parameter(&self, name: &str) -> Option<&Parameter> {
        let place = *self.places.get(name)?.last()?;
        self.list.get(place)?.as_ref()
    }

    fn follow(
        &mut self,
        assignment: &Assignment<ParameterValue>,
        changes: &mut Vec<ParameterChange>,
    ) -> Result<(), ApplyError> {
        let target = &assignment.target;
        let Target { name, part } = target;
        if self.announcement(name).is_none() && self.parameter(name).is_none() && !self.edited.is_free(name) {
            return Err(self.unknown(name));
        }
        let before = self.in_effect(target);
        match (&assignment.value, part) {
            (None, Part::Whole | Part::End) => self.remove(name),
            (None, Part::Item(item)) => {
                self.remove_item(name, item)?;
                // The items behind it move up: what stands there now is not what became of it.
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

    fn unknown(&self, name: &str) -> ApplyError {
        let known = self.announcements.keys().copied().chain(self.places.keys().map(String::as_str));
        let suggestions = suggest(name, known).into_iter().map(str::to_owned).collect();
        ApplyError::Unknown { name: name.to_owned(), suggestions }
    }

    /// All entries of a name go: an earlier one would come back otherwise.
    fn remove(&mut self, name: &str) {
        for place in self.places.remove(name).unwrap_or_default() {
            if let Some(entry) = self.list.get_mut(place) {
                *entry = None;
            }
        }
    }

    fn set(&mut self, name: &str, value: &ParameterValue) -> Result<(), ApplyError> {
        if let Some(due) = self.kind(name)
            && due != Shape::of_value(value)
        {
            return Err(mismatch(name, due, Shape::of_value(value)));
        }
        self.put(name, value.clone());
        Ok(())
    }

    /// Appends the items of a value, and says where they stand now.
    fn append(&mut self, name: &str, value: &ParameterValue) -> Result<Vec<usize>, ApplyError> {
        let due = self.kind(name).unwrap_or(Shape::List);
        let items = match (due, value) {
            (Shape::List, ParameterValue::String(text)) => std::slice::from_ref(text),
            (Shape::List, ParameterValue::Array(items)) => items,
            (Shape::List, ParameterValue::Map(_)) => return Err(mismatch(name, Shape::List, Shape::Map)),
            (due, _) => return Err(mismatch(name, due, Shape::List)),
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
        // Of a new name whose kind nobody knows, a number is the index of a list that has no items yet.
        let guess = if index_of(item).is_some() { Shape::List } else { Shape::Map };
        match self.kind(name).unwrap_or(guess) {
            Shape::Single => return Err(ApplyError::NoItems { name: name.to_owned() }),
            Shape::List => {
                let index = self.index(name, item)?;
                text.clone_into(&mut self.list_mut(name)[index]);
            }
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
                    InEffect::Nothing => return Err(self.no_key(name, item)),
                    // It is not set, so there is nothing to take away.
                    InEffect::Default(_) => {}
                    InEffect::Set(_) => {
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

    /// The place of an item that is there.
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

    /// The list of a parameter, to be changed: a default is written down first, another kind of value goes.
    fn list_mut(&mut self, name: &str) -> &mut Vec<String> {
        let default = if self.parameter(name).is_none() { list_of(self.value(name)) } else { Vec::new() };
        if !default.is_empty() {
            self.defaulted.insert(name.to_owned());
        }
        let parameter = self.entry(name);
        (parameter.string, parameter.map) = (None, None);
        parameter.array.get_or_insert(default)
    }

    /// The map of a parameter, to be changed; another kind of value goes. Of a default nothing is written down: what a map does not
    /// have is the plugin's own.
    fn map_mut(&mut self, name: &str) -> &mut BTreeMap<String, String> {
        let parameter = self.entry(name);
        (parameter.string, parameter.array) = (None, None);
        parameter.map.get_or_insert_default()
    }

    /// Replaces the value of the entry that counts, or adds an entry.
    fn put(&mut self, name: &str, value: ParameterValue) {
        let parameter = self.entry(name);
        *parameter = Parameter { name: name.to_owned(), ..Parameter::default() };
        match value {
            ParameterValue::String(text) => parameter.string = Some(text),
            ParameterValue::Array(list) => parameter.array = Some(list),
            ParameterValue::Map(map) => parameter.map = Some(map),
        }
    }

    /// The entry that counts; a new one at the end if there is none.
    fn entry(&mut self, name: &str) -> &mut Parameter {
        let places = self.places.entry(name.to_owned()).or_default();
        let place = places.last().copied().unwrap_or(self.list.len());
        if place == self.list.len() {
            places.push(place);
            self.list.push(None);
        }
        self.list[place].get_or_insert_with(|| Parameter { name: name.to_owned(), ..Parameter::default() })
    }

    /// What kind of value the parameter has: as announced, else as it is set; nobody knows of a new one.
    fn kind(&self, name: &str) -> Option<Shape> {
        if let Some(announcement) = self.announcement(name) {
            return Some(Shape::of(announcement.collection_type));
        }
        self.parameter(name).and_then(|parameter| Held::of(parameter).kind())
    }

    /// The value in effect: what is set in the field that counts, else the announced default.
    fn value(&self, name: &str) -> Option<ParameterValue> {
        match self.in_effect(&Target::whole(name)) {
            InEffect::Nothing => None,
            InEffect::Default(value) | InEffect::Set(value) => Some(value),
        }
    }

    fn in_effect(&self, target: &Target) -> InEffect {
        if let Some(parameter) = self.parameter(&target.name) {
            let value = part_of(Held::of(parameter), self.kind(&target.name), &target.part);
            return value.map_or(InEffect::Nothing, InEffect::Set);
        }
        let Some(announcement) = self.announcement(&target.name) else { return InEffect::Nothing };
        let held = match announcement.default_value() {
            Some(Default::String(text)) => Held { text: Some(text), ..Held::default() },
            Some(Default::Array(list)) => Held { list: Some(list), ..Held::default() },
            Some(Default::Map(map)) => Held { map: Some(map), ..Held::default() },
            None => return InEffect::Nothing,
        };
        part_of(held, None, &target.part).map_or(InEffect::Nothing, InEffect::Default)
    }

    /// Whether another free prefix in the place of this name's gives one that is announced: they are ways to set one value.
    fn is_announced_otherwise(&self, name: &str) -> bool {
        let prefixes = self.edited.free_prefixes;
        let Some(rest) = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)) else { return false };
        prefixes.iter().any(|prefix| self.announcement(&format!("{prefix}{rest}")).is_some())
    }

    fn warnings(&self, assignments: &[Assignment<ParameterValue>]) -> Vec<String> {
        let mut warnings = Vec::new();
        for name in ordered(assignments) {
            let Some(places) = self.places.get(name) else { continue };
            if places.len() > 1 {
                warnings.push(format!(
                    "parameter `{name}` is set {} times; the last entry was changed, which is the one that its variables have",
                    places.len()
                ));
            }
            if self.defaulted.contains(name) {
                warnings.push(format!(
                    "parameter `{name}`: the announced default is written with the change, since a list is set as a whole"
                ));
            }
            let is_announced = self.announcement(name).is_some() || self.is_announced_otherwise(name);
            if !is_announced && !self.edited.names_are_free {
                let near = suggest(name, self.announcements.keys().copied());
                let is_free = self.edited.is_free(name);
                match near.first() {
                    // A slip of the pen, more likely than not.
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

fn mismatch(name: &str, due: Shape, given: Shape) -> ApplyError {
    ApplyError::Kind {
        name: name.to_owned(),
        due: due.words(),
        given: given.words(),
        remedy: remedy(name, due),
    }
}

/// How to write a value of this kind.
fn remedy(name: &str, due: Shape) -> String {
    match due {
        Shape::Single => format!("write {name}=TEXT"),
        Shape::List => format!("write {name}+=TEXT, {name}[0]=TEXT or {name}:='[\"TEXT\"]'"),
        Shape::Map => format!("write {name}[KEY]=TEXT or {name}:='{{\"KEY\":\"TEXT\"}}'"),
    }
}

/// The fields of a value.
#[derive(Clone, Copy, std::default::Default)]
struct Held<'a> {
    text: Option<&'a str>,
    list: Option<&'a [String]>,
    map: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Held<'a> {
    fn of(parameter: &'a Parameter) -> Self {
        Self {
            text: parameter.string.as_deref(),
            list: parameter.array.as_deref(),
            map: parameter.map.as_ref(),
        }
    }

    /// The kind of the field that is set, the first of them if there are several.
    fn kind(self) -> Option<Shape> {
        let list_or_map = || self.list.map(|_| Shape::List).or(self.map.map(|_| Shape::Map));
        self.text.map(|_| Shape::Single).or_else(list_or_map)
    }
}

/// A part of the value in the field of this kind, else in whichever is set.
fn part_of(held: Held<'_>, kind: Option<Shape>, part: &Part) -> Option<ParameterValue> {
    let text = |text: &str| ParameterValue::String(text.to_owned());
    match (kind.or_else(|| held.kind())?, part) {
        (Shape::Single, Part::Item(_)) => None,
        (Shape::Single, _) => held.text.map(text),
        (Shape::List, Part::Item(item)) => held.list?.get(index_of(item)?).map(|item| text(item)),
        (Shape::List, _) => held.list.map(|list| ParameterValue::Array(list.to_vec())),
        (Shape::Map, Part::Item(key)) => held.map?.get(key).map(|value| text(value)),
        (Shape::Map, _) => held.map.map(|map| ParameterValue::Map(map.clone())),
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

/// An index as people write it: digits only.
fn index_of(item: &str) -> Option<usize> {
    if item.bytes().all(|byte| byte.is_ascii_digit()) { item.parse().ok() } else { None }
}

impl std::fmt::Display for ParameterValue {
    /// One line: a text as it is if that is clear, else as JSON; lists and maps as JSON.
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

/// Whether a text can be shown without quotes and be taken for nothing else.
fn is_clear(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.starts_with(['"', '[', '{'])
        && !text.chars().any(char::is_control)
        && text != NOT_SET
}

/// What is shown of a part that has no value.
const NOT_SET: &str = "not set";

impl std::fmt::Display for InEffect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str(NOT_SET),
            Self::Default(value) => write!(f, "{value} (default)"),
            Self::Set(value) => write!(f, "{value}"),
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
    /// What to do about it, if there is a way.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Unknown { suggestions, .. } | Self::NoKey { suggestions, .. }
                if !suggestions.is_empty() =>
            {
                Some(format!("did you mean {}?", suggestions.join(" or ")))
            }
            Self::Kind { remedy, .. } => Some(remedy.clone()),
            _ => None,
        }
    }
}
