//! The positions at which a document sets parameters. The document is an Application's source or an override file.

use std::collections::BTreeMap;

use tiphys_yaml::{Data, Entry, Node, Position, Step, names_equal};

use crate::helm::{HELM_FIELDS, SET_FILE_PREFIX, Typing, is_for_helm, plain_paths, seen_name, split};
use crate::kustomize::KUSTOMIZE_FIELDS;

/// Returns the positions at which a source's document sets parameters, by parameter name: of the last entry in a parameter list, which
/// takes effect, else of the field in the `kustomize` or `helm` block. Field names are case-insensitive, as in Argo CD. `plugin` is the
/// chosen plugin, as in [`crate::written_parameters`], because override files seldom name it.
pub fn parameter_places(source: &Node, plugin: Option<&str>) -> BTreeMap<String, Position> {
    let mut places = BTreeMap::new();
    let helm = HELM_FIELDS.iter().map(|field| (field.field, field.parameter.as_str()));
    let kustomize = KUSTOMIZE_FIELDS.iter().map(|field| (field.field, field.parameter));
    let blocks: [(_, Vec<_>); 2] = [("kustomize", kustomize.collect()), ("helm", helm.collect())];
    for (block, fields) in blocks {
        let Some(block) = field(source, block) else { continue };
        for (key, name) in fields {
            places.extend(field(&block.value, key).map(|entry| (name.to_owned(), entry.key.position)));
        }
    }
    let listed = |block, list| {
        let list = field(source, block).and_then(|block| field(&block.value, list));
        match list.map(|list| &list.value.data) {
            Some(Data::Sequence(items)) => items.iter().filter_map(named).collect(),
            _ => Vec::new(),
        }
    };
    places.extend(parameters_of(field(source, "plugin"), plugin, &listed("plugin", "parameters")));
    places.extend(values_of(&listed("helm", "parameters")));
    let files = listed("helm", "fileParameters").into_iter();
    places.extend(files.map(|(name, item)| (format!("{SET_FILE_PREFIX}{name}"), item.position)));
    places
}

/// A part of a parameter's value.
#[derive(Clone, Copy, Debug)]
pub struct ParameterPart<'a> {
    /// The parameter's name.
    pub name: &'a str,
    /// The path of the part in a value that is written as an object.
    pub path: &'a [Step],
    /// The line of the part in a value that is written as a string, from 1.
    pub line: Option<usize>,
}

/// The lines of a document's file.
#[derive(Clone, Debug, Default)]
pub struct FileLines(Vec<String>);

impl FileLines {
    /// Splits a file.
    pub fn of(text: &[u8]) -> Self {
        Self(String::from_utf8_lossy(text).lines().map(str::to_owned).collect())
    }

    fn char_at(&self, position: Position) -> Option<char> {
        self.0.get(position.line - 1)?.chars().nth(position.column - 1)
    }
}

/// The position of a part of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartPlace {
    /// Of the part.
    Exact(Position),
    /// Of the innermost value around it, since the document does not have the part.
    Around(Position),
}

impl PartPlace {
    /// Returns the position, exact or not.
    pub fn position(self) -> Position {
        let (Self::Exact(position) | Self::Around(position)) = self;
        position
    }
}

/// Returns the position of a part of a parameter's value in a source's document. `lines` are those of its file. A part of a string is taken
/// to exist. `None` if the document does not set the parameter by a field or an entry of this name.
pub fn parameter_part_place(source: &Node, part: ParameterPart<'_>, lines: &FileLines) -> Option<PartPlace> {
    let value = parameter_value(source, part.name)?;
    Some(match &value.data {
        Data::String(_) => PartPlace::Exact(line_of_scalar(value.position, part.line, lines)),
        _ => nearest_position(value, part.path),
    })
}

/// Returns the value of a field of the `helm` block, else of the last entry with this name in the `plugin` block.
fn parameter_value<'a>(source: &'a Node, name: &str) -> Option<&'a Node> {
    let of_helm = HELM_FIELDS.iter().find(|field| field.parameter == name);
    let of_helm = of_helm.and_then(|known| field(&field(source, "helm")?.value, known.field));
    if let Some(entry) = of_helm {
        return Some(&entry.value);
    }
    let list = field(&field(source, "plugin")?.value, "parameters")?;
    let Data::Sequence(items) = &list.value.data else { return None };
    let (_, item) = items.iter().filter_map(named).rfind(|(other, _)| *other == name)?;
    ["string", "array", "map"].iter().find_map(|key| field(item, key)).map(|entry| &entry.value)
}

/// Returns the position of a line of a string: one below the indicator of a literal block for each line, else that of the string.
fn line_of_scalar(position: Position, line: Option<usize>, lines: &FileLines) -> Position {
    match line.filter(|_| lines.char_at(position) == Some('|')) {
        Some(line) => Position { line: position.line + line, column: 1 },
        None => position,
    }
}

/// Returns the position of a part of a value.
pub(crate) fn nearest_position(value: &Node, path: &[Step]) -> PartPlace {
    let (mut found, mut position) = (value, value.position);
    for step in path {
        let below = match (&found.data, step) {
            (Data::Mapping(entries), Step::Key(key)) => entries
                .iter()
                .rfind(|entry| entry.key.text == *key)
                .map(|entry| (&entry.value, entry.key.position)),
            (Data::Sequence(items), Step::Index(index)) => {
                items.get(*index).map(|item| (item, item.position))
            }
            _ => None,
        };
        match below {
            Some(below) => (found, position) = below,
            None => return PartPlace::Around(position),
        }
    }
    PartPlace::Exact(position)
}

/// Returns the positions of a source's entries of `dynamicParameters`, by their names.
pub fn dynamic_parameter_places(source: &Node) -> BTreeMap<String, Position> {
    let mut places = BTreeMap::new();
    for block in ["plugin", "helm"] {
        let list = field(source, block).and_then(|block| field(&block.value, "dynamicParameters"));
        if let Some(Data::Sequence(items)) = list.map(|list| &list.value.data) {
            places
                .extend(items.iter().filter_map(named).map(|(name, item)| (name.to_owned(), item.position)));
        }
    }
    places
}

/// Returns the entries of a plugin block, by the names that [`crate::written_parameters`] uses.
fn parameters_of(
    block: Option<&Entry>,
    plugin: Option<&str>,
    entries: &[(&str, &Node)],
) -> Vec<(String, Position)> {
    let named = block.and_then(|block| field(&block.value, "name")?.value.as_str());
    let plain = plain_paths(entries.iter().filter_map(|(name, _)| split(name)));
    let shown = |written: &str| match split(written).filter(|_| is_for_helm(plugin, named)) {
        Some((typing, path)) => seen_name(typing, path, &plain),
        None => written.to_owned(),
    };
    entries.iter().map(|(name, item)| (shown(name), item.position)).collect()
}

/// Returns the entries of a helm block, by the names that [`crate::written_parameters`] uses.
fn values_of(entries: &[(&str, &Node)]) -> Vec<(String, Position)> {
    let typing = |item: &Node| {
        let force = field(item, "forceString");
        Typing::of(force.is_some_and(|entry| matches!(entry.value.data, Data::Bool(true))))
    };
    let plain = plain_paths(entries.iter().map(|(name, item)| (typing(item), *name)));
    entries.iter().map(|(name, item)| (seen_name(typing(item), name, &plain), item.position)).collect()
}

/// Returns a list entry with its name.
fn named(item: &Node) -> Option<(&str, &Node)> {
    Some((field(item, "name")?.value.as_str()?, item))
}

/// Returns the source at this zero-based index of an Application's document: an item of `spec.sources`, else `spec.source`.
pub fn source_node(application: &Node, index: usize) -> Option<&Node> {
    let spec = &field(application, "spec")?.value;
    match field(spec, "sources").map(|sources| &sources.value.data) {
        Some(Data::Sequence(items)) if !items.is_empty() => items.get(index),
        _ => field(spec, "source").map(|source| &source.value),
    }
}

/// Returns a field by name; of duplicates the last, which takes effect.
fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Entry> {
    let Data::Mapping(entries) = &node.data else { return None };
    entries.iter().rfind(|entry| names_equal(&entry.key.text, name))
}

#[cfg(test)]
mod tests;
