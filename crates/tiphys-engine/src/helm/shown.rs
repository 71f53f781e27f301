//! The values of a chart as people see and set them: a value has one name, whether it is forced to be a text or not.
//!
//! A plugin announces each value as `set.<path>`. Whether an entry of a `helm` block's `parameters` has `forceString`, or the Helm plugin gets
//! it as `set-string.<path>`, is how the value is handed on, not another value; so it is shown as `set.<path>`, too, unless there is an entry
//! without it for the same path. Its value is shown as helm has it, and written so that helm has what was given. A `plugin` block whose
//! parameters go to the Helm plugin has the same values, and the same rules. A block may leave the name out: then the plugin that was found
//! for the folder gets them, and only who asked the plugins knows which one that is.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_api::{ApplicationSource, HelmFileParameter, HelmParameter, HelmSource};
use tiphys_helm_values::{NameError, Value, parse_name};
use tiphys_params::{Announcement, CollectionType, ItemType, JsonType, Parameter, Types};

use super::value_text::{
    Typing, VariableNames, Variables, has_references, held, references, shown_text, written_text,
};
use super::{
    FieldProblem, HELM_FIELDS, HELM_VALUE_PREFIXES, SET_PREFIX, SET_STRING_PREFIX, helm_parameters,
    text_parameter,
};
use crate::translate::HELM_PLUGIN;

/// A parameter that the block has no place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoField {
    /// No field, and no prefix of a list's entries.
    Unknown,
    /// A field with another kind of value.
    Value(FieldProblem),
    /// Nothing that helm could set.
    Name(NameError),
    /// A number that helm would have as a text.
    Number,
    /// A value that helm would have as one of another type.
    Types {
        /// What it may be.
        due: Types,
        /// What it would be; `None` if helm would refuse it.
        found: Option<JsonType>,
    },
}

/// A single value as both kinds of blocks have it.
#[derive(Clone, Copy, Debug)]
struct Entry<'a> {
    path: &'a str,
    value: &'a str,
    typing: Typing,
}

/// Whether the Helm plugin gets the parameters of a `plugin` block: it is the chosen plugin, or the one that the block names if none was
/// chosen.
pub(crate) fn is_for_helm(chosen: Option<&str>, named: Option<&str>) -> bool {
    chosen.or(named) == Some(HELM_PLUGIN)
}

impl Entry<'_> {
    /// Whether the value would have other references if this text were given: a reference and a text that looks like one are the same where
    /// people see them, and a value may have both.
    fn would_refer_otherwise(self, text: &str, names: VariableNames, variables: Variables) -> bool {
        let given = written_text(text, self.typing, names, variables);
        !references(self.value, names).eq(references(&given, names))
    }
}

/// The parameters of a `plugin` block that the Helm plugin gets; `None` if it gets none. `plugin` is the name of the chosen plugin, `None`
/// if it is not known.
pub(crate) fn plugin_values<'a>(
    source: &'a ApplicationSource,
    plugin: Option<&str>,
) -> Option<&'a [Parameter]> {
    let block = source.plugin.as_ref();
    is_for_helm(plugin, block.map(|block| block.name.as_str()))
        .then(|| block.and_then(|block| block.parameters.as_deref()).unwrap_or_default())
}

/// Whether the parameters of a source's `plugin` block are values of a chart. `plugin` is the name of the chosen plugin; if it is not known,
/// the block's own name decides.
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

/// The parameters that a `helm` block stands for, by the names that people set them by.
pub(crate) fn shown_parameters(block: &HelmSource) -> Vec<Parameter> {
    shown_list(&helm_parameters(block), VariableNames::Build)
}

/// The parameters of the Helm plugin by the names that people set them by.
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

/// The name by which people see an entry of a value: the value's own, but for one that is forced to be a text beside a plain one.
pub(crate) fn seen_name(typing: Typing, path: &str, plain: &BTreeSet<&str>) -> String {
    let prefix = match typing {
        Typing::Forced if plain.contains(path) => SET_STRING_PREFIX,
        Typing::Forced | Typing::Plain => SET_PREFIX,
    };
    format!("{prefix}{path}")
}

/// The paths of plain entries.
pub(crate) fn plain_paths<'a>(entries: impl Iterator<Item = (Typing, &'a str)>) -> BTreeSet<&'a str> {
    entries.filter(|(typing, _)| *typing == Typing::Plain).map(|(_, path)| path).collect()
}

/// Whether helm has the value that is shown by this name as a text, whatever it looks like; not, if variables are a part of it. `plugin` is
/// the name of the chosen plugin, as in [`has_plugin_values`].
pub fn is_held_as_text(source: &ApplicationSource, plugin: Option<&str>, name: &str) -> bool {
    let entries = entries(source, plugin);
    let names = VariableNames::of(source);
    entry_of(&entries, name).is_some_and(|entry| {
        !has_references(entry.value, names)
            && matches!(held(entry.value, entry.typing, names), Some(Value::Text(_)))
    })
}

/// The references in the value that is shown by this name which are replaced when manifests are made, as they stand there. `plugin` is the
/// name of the chosen plugin, as in [`has_plugin_values`].
pub fn replaced_variables<'a>(
    source: &'a ApplicationSource,
    plugin: Option<&str>,
    name: &str,
) -> impl Iterator<Item = &'a str> {
    let names = VariableNames::of(source);
    let entry = entry_of(&entries(source, plugin), name);
    entry.into_iter().flat_map(move |entry| references(entry.value, names))
}

/// The entry whose value is shown by this name: of several the last, which counts.
fn entry_of<'a>(entries: &[Entry<'a>], name: &str) -> Option<Entry<'a>> {
    let name = handed_on(entries, name, None);
    let (typing, path) = split(&name)?;
    entries.iter().rfind(|entry| entry.path == path && entry.typing == typing).copied()
}

/// How a parameter of a single value hands it on, and the value's path.
pub(crate) fn split(name: &str) -> Option<(Typing, &str)> {
    let plain = name.strip_prefix(SET_PREFIX).map(|path| (Typing::Plain, path));
    plain.or_else(|| name.strip_prefix(SET_STRING_PREFIX).map(|path| (Typing::Forced, path)))
}

/// The name by which the plugin gets a parameter that is shown by this name, or would get it once it is set. `plugin` is the name of the
/// chosen plugin, as in [`has_plugin_values`].
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

/// The name by which people see what the plugin gets by this name: the value's own, where its entry forces it to be a text. `plugin`
/// is the name of the chosen plugin, as in [`has_plugin_values`].
pub fn shown_name(source: &ApplicationSource, plugin: Option<&str>, name: &str) -> String {
    let entries = entries(source, plugin);
    let Some((typing, path)) = split(name) else { return name.to_owned() };
    let mut of_path = entries.iter().filter(|entry| entry.path == path).peekable();
    if of_path.peek().is_none() {
        return name.to_owned();
    }
    seen_name(typing, path, &plain_paths(of_path.map(|entry| (entry.typing, entry.path))))
}

/// What is known of a value that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knowledge<'a> {
    /// What the plugin says of it.
    pub(crate) announcement: Option<&'a Announcement>,
    /// What its giver says of variables in it.
    pub(crate) variables: Variables,
}

/// Gives a parameter of [`shown_parameters`] another value, `None` takes it away. An entry keeps its place, and its `forceString` if the
/// value holds so; a new one is forced to be a text if its announcement says that it is one, or if it would be another value.
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
    let Some((typing, _)) = split(name) else {
        set_file(block, path, text);
        return Ok(());
    };
    let typing = match typing {
        Typing::Plain => Typing::of(is_forced(&entries_of_block(block), path, knowledge.announcement)),
        Typing::Forced => typing,
    };
    match text {
        None => block.parameters.retain(|entry| !is_entry(entry, path, typing)),
        Some(text) => {
            set_value(block, path, &Written::new(text, typing, VariableNames::Build, knowledge)?, typing);
        }
    }
    Ok(())
}

/// The list of the Helm plugin's parameters that has these ones, named as people see them. What does not change stays as it was written, but
/// for a value that is given anew (`named`) and only seems to be there already.
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
                entry.would_refer_otherwise(text, names, knowledge.variables)
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

/// A parameter of the Helm plugin as it is written; what is no single value is written as it is given.
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
    let Some((typing, _)) = split(&parameter.name) else { return Ok(parameter.clone()) };
    let typing = match typing {
        Typing::Plain => Typing::of(is_forced(entries, path, knowledge.announcement)),
        Typing::Forced => typing,
    };
    let written = Written::new(text, typing, VariableNames::BuildAndOwn, knowledge)?;
    let prefix = match written.typing {
        Typing::Plain => SET_PREFIX,
        Typing::Forced => SET_STRING_PREFIX,
    };
    Ok(text_parameter(prefix, path, &written.value))
}

/// What an entry is to have.
struct Written {
    value: String,
    typing: Typing,
}

impl Written {
    /// How the value is written that is to hold; what is announced says as what. An entry whose value has to be a text becomes forced if it
    /// would be none, or may become none when variables are replaced. So does one whose value may be a text or something else, if helm would
    /// have it as neither, or would make another value of it; and one of which nobody says what it is, in the latter case.
    fn new(
        text: &str,
        typing: Typing,
        names: VariableNames,
        knowledge: Knowledge<'_>,
    ) -> Result<Self, NoField> {
        let Knowledge { announcement, variables } = knowledge;
        let of = |typing| Self { value: written_text(text, typing, names, variables), typing };
        let plain = of(typing);
        if typing == Typing::Forced {
            return Ok(plain);
        }
        let item_type = announcement.and_then(|announcement| announcement.item_type.as_ref());
        if has_references(&plain.value, names) {
            // A revision may have digits only.
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
        // `True` is what people write for `true`, and means it.
        let is_kept = || shown_text(&plain.value, typing, names).eq_ignore_ascii_case(text);
        match item_type {
            Some(ItemType::Number) if is_text => Err(NoField::Number),
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

/// The type of a value that helm has of a text.
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

/// Whether a value of a `helm` block would have other references if this text were given: both may look alike where people see them.
pub(crate) fn is_ambiguous(block: &HelmSource, name: &str, text: &str, variables: Variables) -> bool {
    let names = VariableNames::Build;
    entry_of(&entries_of_block(block), name)
        .is_some_and(|entry| entry.would_refer_otherwise(text, names, variables))
}

/// Whether a value is forced to be a text; of one that is not set, whether it would be.
fn is_forced(entries: &[Entry<'_>], path: &str, announcement: Option<&Announcement>) -> bool {
    if entries.iter().any(|entry| entry.path == path) {
        !has_plain(entries, path)
    } else {
        announcement.is_some_and(is_text)
    }
}

/// Whether an announcement is of a text and of nothing else. One without a type is of a value that may have several.
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

/// Of several entries the last counts, so it is the one that changes.
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
