//! The values of a chart as users see and set them: a value has one name, with or without `forceString`.
//!
//! Plugins announce each value as `set.<path>`. `forceString` on an entry of a `helm` block's `parameters`, or the name `set-string.<path>`
//! for the Helm plugin, changes how the value is passed, not which value it is. So it is shown as `set.<path>` too, unless a plain entry
//! exists for the same path. The shown string is helm's value, and a set string is escaped so that helm gets it. The same applies to a
//! `plugin` block whose parameters go to the Helm plugin. Such a block may omit the plugin's name: then discovery chooses the plugin, and
//! the caller must pass its name.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_helm_values::{NameError, Value, parse_name};
use tiphys_model::params::{Announcement, CollectionType, ItemType, JsonType, Parameter, Types};
use tiphys_model::resources::{ApplicationSource, HelmFileParameter, HelmParameter, HelmSource};

use super::inline_values::is_structure;
use super::value_text::{
    Typing, VariableNames, Variables, has_references, held, references, shown_text, written_text,
};
use super::{
    FieldProblem, HELM_FIELDS, HELM_VALUE_PREFIXES, SET_PREFIX, SET_STRING_PREFIX, helm_parameters,
    text_parameter,
};
use crate::HELM_PLUGIN;

/// A parameter that cannot be set in the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoField {
    /// Neither the name of a field nor a prefix of a list's entries.
    Unknown,
    /// The field takes another kind of value.
    Value(FieldProblem),
    /// The path is invalid for helm.
    Name(NameError),
    /// A number that would be a string in helm.
    Number,
    /// `null` for a value that must be a string.
    Null,
    /// The value would have another type in helm.
    Types {
        /// The types that it may have.
        due: Types,
        /// The type that it would have; `None` if helm would reject it.
        found: Option<JsonType>,
    },
}

/// A single value from either kind of block.
#[derive(Clone, Copy, Debug)]
struct Entry<'a> {
    path: &'a str,
    value: &'a str,
    typing: Typing,
}

/// Returns whether the Helm plugin gets the parameters of a `plugin` block: it is the chosen plugin, or, if none was chosen, the one that
/// the block names.
pub(crate) fn is_for_helm(chosen: Option<&str>, named: Option<&str>) -> bool {
    chosen.or(named) == Some(HELM_PLUGIN)
}

impl Entry<'_> {
    /// Returns whether setting this string would change the references in the value. A reference and an escaped one look the same to users,
    /// and a value may contain both.
    fn changes_references(self, text: &str, names: VariableNames, variables: Variables) -> bool {
        let given = written_text(text, self.typing, names, variables);
        !references(self.value, names).eq(references(&given, names))
    }
}

/// Returns the parameters of a `plugin` block that go to the Helm plugin; `None` if they go to another one. `plugin` is the name of the
/// chosen plugin, `None` if unknown.
pub(crate) fn plugin_values<'a>(
    source: &'a ApplicationSource,
    plugin: Option<&str>,
) -> Option<&'a [Parameter]> {
    let block = source.plugin.as_ref();
    is_for_helm(plugin, block.map(|block| block.name.as_str()))
        .then(|| block.and_then(|block| block.parameters.as_deref()).unwrap_or_default())
}

/// Returns whether the parameters of a source's `plugin` block are values of a chart. `plugin` is the name of the chosen plugin. If it is
/// unknown, the name in the block decides.
pub fn has_plugin_values(source: &ApplicationSource, plugin: Option<&str>) -> bool {
    plugin_values(source, plugin).is_some()
}

fn entries<'a>(source: &'a ApplicationSource, plugin: Option<&str>) -> Vec<Entry<'a>> {
    match &source.helm {
        Some(block) => entries_of_block(block),
        None => entries_of_plugin(plugin_values(source, plugin).unwrap_or_default()),
    }
}

fn entries_of_block(block: &HelmSource) -> Vec<Entry<'_>> {
    let entries = block.parameters.iter();
    let entries = entries.map(|entry| Entry {
        path: &entry.name,
        value: &entry.value,
        typing: Typing::of(entry.force_string),
    });
    entries.collect()
}

fn entries_of_plugin(list: &[Parameter]) -> Vec<Entry<'_>> {
    list.iter().filter_map(entry_of_parameter).collect()
}

fn entry_of_parameter(parameter: &Parameter) -> Option<Entry<'_>> {
    let (typing, path) = split(&parameter.name)?;
    Some(Entry { path, value: parameter.string.as_deref().unwrap_or_default(), typing })
}

/// Returns the parameters that a `helm` block sets, by the names under which users set them.
pub(crate) fn shown_parameters(block: &HelmSource) -> Vec<Parameter> {
    shown_list(&helm_parameters(block), VariableNames::Build)
}

/// Returns the parameters of the Helm plugin, by the names under which users set them.
pub(crate) fn shown_plugin_parameters(list: &[Parameter]) -> Vec<Parameter> {
    shown_list(list, VariableNames::BuildAndOwn)
}

fn shown_list(list: &[Parameter], names: VariableNames) -> Vec<Parameter> {
    let plain = plain_paths(list.iter().filter_map(|one| split(&one.name)));
    let shown = |parameter: &Parameter| match split(&parameter.name) {
        Some((typing, path)) => Parameter {
            name: seen_name(typing, path, &plain),
            string: parameter.string.as_deref().map(|value| shown_text(value, typing, names)),
            ..parameter.clone()
        },
        None => parameter.clone(),
    };
    list.iter().map(shown).collect()
}

/// Returns the shown name of an entry: `set.<path>`, or `set-string.<path>` for a forced entry beside a plain one.
pub(crate) fn seen_name(typing: Typing, path: &str, plain: &BTreeSet<&str>) -> String {
    let prefix = match typing {
        Typing::Forced if plain.contains(path) => SET_STRING_PREFIX,
        Typing::Forced | Typing::Plain => SET_PREFIX,
    };
    format!("{prefix}{path}")
}

/// Returns the paths of plain entries.
pub(crate) fn plain_paths<'a>(entries: impl Iterator<Item = (Typing, &'a str)>) -> BTreeSet<&'a str> {
    entries.filter(|(typing, _)| *typing == Typing::Plain).map(|(_, path)| path).collect()
}

/// Returns whether the value with this shown name is a string in helm, even if it looks like another type. `false` if it has variables.
/// `plugin` is the name of the chosen plugin, as in [`has_plugin_values`].
pub fn is_held_as_text(source: &ApplicationSource, plugin: Option<&str>, name: &str) -> bool {
    let entries = entries(source, plugin);
    let names = VariableNames::of(source);
    entry_of(&entries, name).is_some_and(|entry| {
        !has_references(entry.value, names)
            && matches!(held(entry.value, entry.typing, names), Some(Value::Text(_)))
    })
}

/// Returns the references in the value with this shown name that are replaced at render time, as written. `plugin` is the name of the
/// chosen plugin, as in [`has_plugin_values`].
pub fn replaced_variables<'a>(
    source: &'a ApplicationSource,
    plugin: Option<&str>,
    name: &str,
) -> impl Iterator<Item = &'a str> {
    let names = VariableNames::of(source);
    let entry = entry_of(&entries(source, plugin), name);
    entry.into_iter().flat_map(move |entry| references(entry.value, names))
}

/// Returns the entry with this shown name; of several the last, which takes effect.
fn entry_of<'a>(entries: &[Entry<'a>], name: &str) -> Option<Entry<'a>> {
    let name = handed_on(entries, name, None);
    let (typing, path) = split(&name)?;
    entries.iter().rfind(|entry| entry.path == path && entry.typing == typing).copied()
}

/// Splits the name of a single value into its typing and path.
pub(crate) fn split(name: &str) -> Option<(Typing, &str)> {
    let plain = name.strip_prefix(SET_PREFIX).map(|path| (Typing::Plain, path));
    plain.or_else(|| name.strip_prefix(SET_STRING_PREFIX).map(|path| (Typing::Forced, path)))
}

/// Returns the name under which the plugin gets the parameter with this shown name, or would get it if it were set. `plugin` is the name of
/// the chosen plugin, as in [`has_plugin_values`].
pub fn handed_on_name(
    source: &ApplicationSource,
    plugin: Option<&str>,
    name: &str,
    announcement: Option<&Announcement>,
) -> String {
    handed_on(&entries(source, plugin), name, announcement)
}

fn handed_on(entries: &[Entry<'_>], name: &str, announcement: Option<&Announcement>) -> String {
    match name.strip_prefix(SET_PREFIX) {
        Some(path) if is_forced(entries, path, announcement) => format!("{SET_STRING_PREFIX}{path}"),
        _ => name.to_owned(),
    }
}

/// Returns the shown name of a parameter that the plugin gets under this name. `plugin` is the name of the chosen plugin, as in
/// [`has_plugin_values`].
pub fn shown_name(source: &ApplicationSource, plugin: Option<&str>, name: &str) -> String {
    let entries = entries(source, plugin);
    let Some((typing, path)) = split(name) else { return name.to_owned() };
    let mut of_path = entries.iter().filter(|entry| entry.path == path).peekable();
    if of_path.peek().is_none() {
        return name.to_owned();
    }
    seen_name(typing, path, &plain_paths(of_path.map(|entry| (entry.typing, entry.path))))
}

/// Information about a value that is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knowledge<'a> {
    /// The plugin's announcement of the value.
    pub(crate) announcement: Option<&'a Announcement>,
    /// How variables in the value are treated.
    pub(crate) variables: Variables,
    /// The type of the JSON value as which it was given. A string and a word such as `true` look the same.
    pub(crate) given_type: Option<JsonType>,
}

impl Knowledge<'_> {
    /// Returns how a value is passed that was passed like this before, or would be. `named` is how the name under which it is set passes it.
    fn typing(self, named: Typing, before: Typing) -> Typing {
        match self.given_type {
            _ if named == Typing::Forced => named,
            Some(JsonType::String) => Typing::Forced,
            Some(_) if !self.announcement.is_some_and(is_text) => Typing::Plain,
            _ => before,
        }
    }

    /// Whether an entry's value has the given type.
    fn is_type_of(self, entry: Entry<'_>, names: VariableNames) -> bool {
        let is_text = matches!(held(entry.value, entry.typing, names), Some(Value::Text(_)));
        self.given_type.is_none_or(|given| is_text == (given == JsonType::String))
    }
}

/// Sets a parameter of [`shown_parameters`]; `None` removes it. An existing entry keeps its position, and its `forceString` if that suits
/// the value. A new entry gets `forceString` if its announcement requires a string, or if helm would otherwise change the value.
pub(crate) fn set_shown(
    block: &mut HelmSource,
    name: &str,
    value: Option<&Parameter>,
    knowledge: Knowledge<'_>,
) -> Result<(), NoField> {
    if let Some(field) = HELM_FIELDS.iter().find(|field| field.parameter == name) {
        return field.set(block, value).map_err(NoField::Value);
    }
    let path = HELM_VALUE_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    let path = path.ok_or(NoField::Unknown)?;
    let text = value.map(|parameter| parameter.string.as_deref().ok_or(FieldProblem::Kind("string")));
    let text = text.transpose().map_err(NoField::Value)?;
    if text.is_some() {
        parse_name(path).map_err(NoField::Name)?;
    }
    let Some((named, _)) = split(name) else {
        set_file(block, path, text);
        return Ok(());
    };
    let typing = match named {
        Typing::Plain => Typing::of(is_forced(&entries_of_block(block), path, knowledge.announcement)),
        Typing::Forced => named,
    };
    match text {
        None => block.parameters.retain(|entry| !is_entry(entry, path, typing)),
        Some(text) => {
            let written =
                Written::new(text, knowledge.typing(named, typing), VariableNames::Build, knowledge)?;
            set_value(block, path, &written, typing);
        }
    }
    Ok(())
}

/// Returns the Helm plugin's parameters for this list of shown ones. Unchanged parameters stay as they were written. An explicitly set one
/// (`named`) does not, if it only looks unchanged.
pub(crate) fn set_plugin_parameters<'a, 'b>(
    before: &[Parameter],
    after: &'b [Parameter],
    named: &BTreeSet<&str>,
    knowledge: impl Fn(&str) -> Knowledge<'a>,
) -> Result<Vec<Parameter>, (&'b str, NoField)> {
    let names = VariableNames::BuildAndOwn;
    let entries = entries_of_plugin(before);
    let shown = shown_plugin_parameters(before);
    let mut known: BTreeMap<&str, Vec<(&Parameter, &Parameter)>> = BTreeMap::new();
    for (shown, written) in shown.iter().zip(before).rev() {
        known.entry(&shown.name).or_default().push((shown, written));
    }
    let mut list = Vec::with_capacity(after.len());
    for parameter in after {
        let name = parameter.name.as_str();
        let knowledge = knowledge(name);
        let same = known.get_mut(name).and_then(|known| {
            let place = known.iter().rposition(|(shown, _)| *shown == parameter)?;
            Some(known.remove(place).1)
        });
        let is_kept = |written: &&Parameter| {
            let given = parameter.string.as_deref().filter(|_| named.contains(name));
            let is_new = |(entry, text): (Entry<'_>, &str)| {
                entry.changes_references(text, names, knowledge.variables)
                    || !knowledge.is_type_of(entry, names)
            };
            !entry_of_parameter(written).zip(given).is_some_and(is_new)
        };
        list.push(match same.filter(is_kept) {
            Some(written) => written.clone(),
            None => written_parameter(&entries, parameter, knowledge).map_err(|problem| (name, problem))?,
        });
    }
    Ok(list)
}

/// Returns a parameter of the Helm plugin as it is written. A parameter that is not a single value does not change.
fn written_parameter(
    entries: &[Entry<'_>],
    parameter: &Parameter,
    knowledge: Knowledge<'_>,
) -> Result<Parameter, NoField> {
    let Some(path) = HELM_VALUE_PREFIXES.iter().find_map(|prefix| parameter.name.strip_prefix(prefix)) else {
        return Ok(parameter.clone());
    };
    let text = parameter.string.as_deref().ok_or(NoField::Value(FieldProblem::Kind("string")))?;
    parse_name(path).map_err(NoField::Name)?;
    let Some((named, _)) = split(&parameter.name) else { return Ok(parameter.clone()) };
    let before = Typing::of(is_forced(entries, path, knowledge.announcement));
    let typing = knowledge.typing(named, before);
    let written = Written::new(text, typing, VariableNames::BuildAndOwn, knowledge)?;
    let prefix = match written.typing {
        Typing::Plain => SET_PREFIX,
        Typing::Forced => SET_STRING_PREFIX,
    };
    Ok(text_parameter(prefix, path, &written.value))
}

/// The value and typing to write to an entry.
struct Written {
    value: String,
    typing: Typing,
}

impl Written {
    /// Determines how to write a value so that helm gets it with an announced type. An entry that must be a string gets `forceString` if
    /// the value would be another type, or could be after variables are replaced. So does an entry that may be a string or another type, if
    /// helm would make neither of it, or change it. An entry without an announced type gets it only if helm would change the value.
    fn new(
        text: &str,
        typing: Typing,
        names: VariableNames,
        knowledge: Knowledge<'_>,
    ) -> Result<Self, NoField> {
        let Knowledge { announcement, variables, given_type } = knowledge;
        let of = |typing| Self { value: written_text(text, typing, names, variables), typing };
        let plain = of(typing);
        if typing == Typing::Forced {
            let is_null = given_type == Some(JsonType::Null);
            return if is_null { Err(NoField::Null) } else { Ok(plain) };
        }
        let item_type = announcement.and_then(|announcement| announcement.item_type.as_ref());
        if has_references(&plain.value, names) {
            // A revision may consist of digits only.
            let is_no_number = match item_type {
                Some(ItemType::String(_)) => true,
                Some(ItemType::OneOf(types)) => {
                    types.allow(JsonType::String) && !types.allow(JsonType::Integer)
                }
                Some(ItemType::Number | ItemType::Boolean) | None => false,
            };
            return Ok(if is_no_number { of(Typing::Forced) } else { plain });
        }
        let found = held(&plain.value, typing, names).as_ref().map(json_type);
        let is_text = found == Some(JsonType::String);
        // Users write `True` for `true`, and mean the boolean.
        let is_kept = || shown_text(&plain.value, typing, names).eq_ignore_ascii_case(text);
        // Null removes a list or a map of a chart.
        let is_removal = found == Some(JsonType::Null) && announcement.is_some_and(is_structure);
        match item_type {
            _ if is_removal => Ok(plain),
            Some(ItemType::Number) if is_text => Err(NoField::Number),
            Some(ItemType::String(_)) if is_text => Ok(plain),
            _ if is_text && given_type == Some(JsonType::Number) => Err(NoField::Number),
            Some(ItemType::String(_)) if !is_text => Ok(of(Typing::Forced)),
            Some(ItemType::OneOf(types)) => {
                let is_due = found.is_some_and(|found| types.allow(found));
                match types.allow(JsonType::String) {
                    true if !is_due || !is_kept() => Ok(of(Typing::Forced)),
                    false if !is_due => Err(NoField::Types { due: *types, found }),
                    _ => Ok(plain),
                }
            }
            None if !is_kept() => Ok(of(Typing::Forced)),
            _ => Ok(plain),
        }
    }
}

/// Returns the JSON type of helm's value.
fn json_type(value: &Value) -> JsonType {
    match value {
        Value::Null => JsonType::Null,
        Value::Bool(_) => JsonType::Boolean,
        Value::Integer(_) => JsonType::Integer,
        Value::Float(_) => JsonType::Number,
        Value::Text(_) => JsonType::String,
        Value::List(_) => JsonType::Array,
        Value::Map(_) => JsonType::Object,
    }
}

/// Returns whether setting this string would change the references in a value of a `helm` block, or its type, although both may look the
/// same to users.
pub(crate) fn is_ambiguous(block: &HelmSource, name: &str, text: &str, knowledge: Knowledge<'_>) -> bool {
    let names = VariableNames::Build;
    entry_of(&entries_of_block(block), name).is_some_and(|entry| {
        entry.changes_references(text, names, knowledge.variables) || !knowledge.is_type_of(entry, names)
    })
}

/// Returns whether a value has `forceString`. For an unset value, returns whether it would get it.
fn is_forced(entries: &[Entry<'_>], path: &str, announcement: Option<&Announcement>) -> bool {
    if entries.iter().any(|entry| entry.path == path) {
        !has_plain(entries, path)
    } else {
        announcement.is_some_and(is_text)
    }
}

/// Returns whether an announcement allows only a string. Without a type, it allows several.
fn is_text(announcement: &Announcement) -> bool {
    let single = matches!(announcement.collection_type, CollectionType::Absent | CollectionType::String);
    single && matches!(announcement.item_type, Some(ItemType::String(_)))
}

fn has_plain(entries: &[Entry<'_>], path: &str) -> bool {
    entries.iter().any(|entry| entry.path == path && entry.typing == Typing::Plain)
}

fn is_entry(entry: &HelmParameter, path: &str, typing: Typing) -> bool {
    entry.name == path && Typing::of(entry.force_string) == typing
}

/// Changes the last of several entries, because it takes effect, or appends one.
fn set_value(block: &mut HelmSource, path: &str, written: &Written, typing: Typing) {
    let Written { value, typing: new } = written;
    let force_string = *new == Typing::Forced;
    match block.parameters.iter_mut().rfind(|entry| is_entry(entry, path, typing)) {
        Some(entry) => {
            value.clone_into(&mut entry.value);
            entry.force_string = force_string;
        }
        None => {
            block.parameters.push(HelmParameter {
                name: path.to_owned(),
                value: value.clone(),
                force_string,
            });
        }
    }
}

fn set_file(block: &mut HelmSource, path: &str, file: Option<&str>) {
    let Some(file) = file else { return block.file_parameters.retain(|entry| entry.name != path) };
    match block.file_parameters.iter_mut().rfind(|entry| entry.name == path) {
        Some(entry) => file.clone_into(&mut entry.path),
        None => {
            block.file_parameters.push(HelmFileParameter { name: path.to_owned(), path: file.to_owned() });
        }
    }
}
