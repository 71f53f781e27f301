//! The block's values as people see and set them: a value has one name, whether it is forced to be a text or not.
//!
//! A plugin announces each value as `set.<path>`. Whether an entry of `parameters` has `forceString` is how the value is handed on, not
//! another value; so it is shown as `set.<path>`, too, unless there is an entry without `forceString` for the same path. Its value is shown
//! as helm has it, and written so that helm has what was given.

use tiphys_api::{HelmFileParameter, HelmParameter, HelmSource};
use tiphys_helm_values::{NameError, Value, parse_name};
use tiphys_params::{Announcement, CollectionType, ItemType, Parameter};

use super::value_text::{Typing, build_variables, held, shown_text, written_text};
use super::{FieldProblem, HELM_FIELDS, HELM_VALUE_PREFIXES, SET_PREFIX, SET_STRING_PREFIX, helm_parameters};

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
}

/// The parameters that a block stands for, by the names that people set them by.
pub(crate) fn shown_parameters(block: &HelmSource) -> Vec<Parameter> {
    helm_parameters(block)
        .into_iter()
        .map(|mut parameter| {
            let Some((typing, path)) = split(&parameter.name) else { return parameter };
            if typing == Typing::Forced && !has_plain(block, path) {
                parameter.name = format!("{SET_PREFIX}{path}");
            }
            parameter.string = parameter.string.map(|value| shown_text(&value, typing));
            parameter
        })
        .collect()
}

/// Whether helm has the value that is shown by this name as a text, whatever it looks like; not, if variables are a part of it.
pub fn is_held_as_text(block: &HelmSource, name: &str) -> bool {
    let name = handed_on_name(Some(block), name, None);
    let Some((typing, path)) = split(&name) else { return false };
    let is_it = |entry: &&HelmParameter| is_entry(entry, path, typing);
    let entry = block.parameters.iter().rfind(is_it);
    entry.is_some_and(|entry| {
        build_variables(&entry.value).next().is_none()
            && matches!(held(&entry.value, typing), Some(Value::Text(_)))
    })
}

/// How a parameter of a single value hands it on, and the value's path.
fn split(name: &str) -> Option<(Typing, &str)> {
    let plain = name.strip_prefix(SET_PREFIX).map(|path| (Typing::Plain, path));
    plain.or_else(|| name.strip_prefix(SET_STRING_PREFIX).map(|path| (Typing::Forced, path)))
}

/// The name by which the plugin gets a parameter that is shown by this name, or would get it once it is set.
pub fn handed_on_name(block: Option<&HelmSource>, name: &str, announcement: Option<&Announcement>) -> String {
    match name.strip_prefix(SET_PREFIX) {
        Some(path) if is_forced(block, path, announcement) => format!("{SET_STRING_PREFIX}{path}"),
        _ => name.to_owned(),
    }
}

/// The name by which people see what the plugin gets by this name: the value's own, where its entry forces it to be a text.
pub fn shown_name(block: Option<&HelmSource>, name: &str) -> String {
    let is_shown = |path: &&str| {
        let has = |block: &HelmSource| block.parameters.iter().any(|entry| entry.name == *path);
        block.is_some_and(|block| has(block) && !has_plain(block, path))
    };
    match name.strip_prefix(SET_STRING_PREFIX).filter(is_shown) {
        Some(path) => format!("{SET_PREFIX}{path}"),
        None => name.to_owned(),
    }
}

/// Gives a parameter of [`shown_parameters`] another value, `None` takes it away. An entry keeps its place, and its `forceString` if the
/// value holds so; a new one is forced to be a text if its announcement says that it is one.
pub(crate) fn set_shown(
    block: &mut HelmSource,
    name: &str,
    value: Option<&Parameter>,
    announcement: Option<&Announcement>,
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
        Typing::Plain => Typing::of(is_forced(Some(block), path, announcement)),
        Typing::Forced => typing,
    };
    match text {
        None => block.parameters.retain(|entry| !is_entry(entry, path, typing)),
        Some(text) => set_value(block, path, &Written::new(text, typing, announcement)?, typing),
    }
    Ok(())
}

/// What an entry is to have.
struct Written {
    value: String,
    typing: Typing,
}

impl Written {
    /// How the value is written that is to hold; what is announced says as what. An entry whose value has to be a text becomes forced if it
    /// would be none.
    fn new(text: &str, typing: Typing, announcement: Option<&Announcement>) -> Result<Self, NoField> {
        let of = |typing| Self { value: written_text(text, typing), typing };
        let plain = of(typing);
        if typing == Typing::Forced || build_variables(text).next().is_some() {
            return Ok(plain);
        }
        let is_text = matches!(held(&plain.value, typing), Some(Value::Text(_)));
        match announcement.and_then(|announcement| announcement.item_type.as_ref()) {
            Some(ItemType::Number) if is_text => Err(NoField::Number),
            Some(ItemType::String(_)) if !is_text => Ok(of(Typing::Forced)),
            _ => Ok(plain),
        }
    }
}

/// Whether a value has `forceString`; of one that is not set, whether it would have it.
fn is_forced(block: Option<&HelmSource>, path: &str, announcement: Option<&Announcement>) -> bool {
    match block.filter(|block| block.parameters.iter().any(|entry| entry.name == path)) {
        Some(block) => !has_plain(block, path),
        None => announcement.is_some_and(is_text),
    }
}

/// Whether an announcement is of a text: that is what it is if it says nothing.
fn is_text(announcement: &Announcement) -> bool {
    let single = matches!(announcement.collection_type, CollectionType::Absent | CollectionType::String);
    single && matches!(announcement.item_type, None | Some(ItemType::String(_)))
}

fn has_plain(block: &HelmSource, path: &str) -> bool {
    block.parameters.iter().any(|entry| entry.name == path && !entry.force_string)
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
