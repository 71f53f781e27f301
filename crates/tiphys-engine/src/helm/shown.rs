//! The block's values as people see and set them: a value has one name, whether it is forced to be a text or not.
//!
//! A plugin announces each value as `set.<path>`. Whether an entry of `parameters` has `forceString` is how the value is handed on, not
//! another value; so it is shown as `set.<path>`, too, unless there is an entry without `forceString` for the same path.

use tiphys_api::{HelmFileParameter, HelmParameter, HelmSource};
use tiphys_params::{Announcement, CollectionType, ItemType, Parameter};

use super::{
    FieldProblem, HELM_FIELDS, SET_FILE_PREFIX, SET_PREFIX, SET_STRING_PREFIX, helm_parameters,
    text_parameter,
};

/// A parameter that the block has no place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoField {
    /// No field, and no prefix of a list's entries.
    Unknown,
    /// A field with another kind of value.
    Value(FieldProblem),
}

/// The parameters that a block stands for, by the names that people set them by.
pub(crate) fn shown_parameters(block: &HelmSource) -> Vec<Parameter> {
    helm_parameters(block)
        .into_iter()
        .map(|parameter| match parameter.name.strip_prefix(SET_STRING_PREFIX) {
            Some(path) if !has_plain(block, path) => {
                let value = parameter.string.as_deref().unwrap_or_default();
                text_parameter(SET_PREFIX, path, value)
            }
            _ => parameter,
        })
        .collect()
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

/// Gives a parameter of [`shown_parameters`] another value, `None` takes it away. An entry keeps its place and its `forceString`; a new
/// one is forced to be a text if its announcement says that it is one.
pub(crate) fn set_shown(
    block: &mut HelmSource,
    name: &str,
    value: Option<&Parameter>,
    announcement: Option<&Announcement>,
) -> Result<(), NoField> {
    if let Some(field) = HELM_FIELDS.iter().find(|field| field.parameter == name) {
        return field.set(block, value).map_err(NoField::Value);
    }
    let text = value.map(|parameter| parameter.string.as_deref().ok_or(FieldProblem::Kind("string")));
    let text = text.transpose().map_err(NoField::Value)?;
    if let Some(path) = name.strip_prefix(SET_FILE_PREFIX) {
        set_file(block, path, text);
    } else if let Some(path) = name.strip_prefix(SET_STRING_PREFIX) {
        set_value(block, path, true, text);
    } else if let Some(path) = name.strip_prefix(SET_PREFIX) {
        let is_forced = is_forced(Some(block), path, announcement);
        set_value(block, path, is_forced, text);
    } else {
        return Err(NoField::Unknown);
    }
    Ok(())
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

/// Of several entries the last counts, so it is the one that changes; all of them go.
fn set_value(block: &mut HelmSource, path: &str, is_forced: bool, value: Option<&str>) {
    let is_it = |entry: &HelmParameter| entry.name == path && entry.force_string == is_forced;
    let Some(value) = value else { return block.parameters.retain(|entry| !is_it(entry)) };
    match block.parameters.iter_mut().rfind(|entry| is_it(entry)) {
        Some(entry) => value.clone_into(&mut entry.value),
        None => block.parameters.push(HelmParameter {
            name: path.to_owned(),
            value: value.to_owned(),
            force_string: is_forced,
        }),
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
