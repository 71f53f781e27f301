//! Parameter values, as an Application sets them.

mod json;

use std::collections::BTreeMap;

use tiphys_yaml::{Data, DecodeError, Node, Object, Position};

use crate::suggest::suggest;

/// One entry of `spec.source.plugin.parameters`. Absent and empty are different values.
///
/// Its JSON form (serde) is the one of [`crate::app_parameters`]; reading takes keys in any letter case and ignores unknown ones.
/// [`Parameters::decode`] reads the same from a document with positions, and says what a person should know of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Name; may be empty here, since what is sent to a plugin is decided by [`crate::app_parameters`] and the checks.
    pub name: String,
    /// The text, if it is set.
    pub string: Option<String>,
    /// The list, if it is set.
    pub array: Option<Vec<String>>,
    /// The map, if it is set.
    pub map: Option<BTreeMap<String, String>>,
}

/// Something that is taken as Argo CD takes it, but that a person should know of (no value, named twice, a key given twice).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What, naming the parameter.
    pub message: String,
    /// Where, if the text is known.
    pub position: Option<Position>,
}

/// A list of parameters as it was read, with the places of its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The parameters in the order of the document; `None` for `null`, which is what an absent list is too.
    pub list: Option<Vec<Parameter>>,
    /// Where each entry of the list begins.
    pub positions: Vec<Position>,
    /// What was taken although it looks like a mistake, in the order of the document.
    pub warnings: Vec<Warning>,
}

/// A parameter without a name: plugins are not given any parameters then (proposal, Q/A 5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "parameter {} of {count}{} has no name; every parameter needs a non-empty `name`",
    index + 1,
    position.map(|p| format!(" (line {}, column {})", p.line, p.column)).unwrap_or_default()
)]
pub struct NamelessParameter {
    /// Which one, counted from 0 (the text counts from 1).
    pub index: usize,
    /// How many parameters the list has.
    pub count: usize,
    /// Where, if the text is known.
    pub position: Option<Position>,
}

impl Parameters {
    /// Reads the value of `parameters` as Argo CD's type does (`spec/cmp.md` 4.4 and 14): keys in any letter case, `null` entries are
    /// empty parameters, `map: null` and `array: null` are present and empty, `string: null` is absent, the last of equal keys wins
    /// while maps grow together. `path` is what errors call the list.
    ///
    /// A list from YAML goes through [`Node::deduplicated`] first, as Kubernetes' conversion to JSON does; then maps do not grow, since
    /// only the last of equal keys is left.
    pub fn decode(node: &Node, path: &str) -> Result<Self, DecodeError> {
        let items = match &node.data {
            Data::Null => return Ok(Self::default()),
            Data::Sequence(items) => items,
            _ => return Err(DecodeError::mismatch(node, path, "a list of parameters")),
        };
        let mut read = Self { list: None, positions: Vec::new(), warnings: Vec::new() };
        let mut list: Vec<Parameter> = Vec::with_capacity(items.len());
        let mut first_places: BTreeMap<String, Position> = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let parameter = decode_parameter(item, &format!("{path}[{index}]"), index, &mut read.warnings)?;
            if let Some(first) = first_places.get(&parameter.name) {
                read.warn(
                    item.position,
                    format!(
                        "parameter {} is set twice, first on line {}; the plugin gets both, and of equal variables the later one",
                        title(&parameter.name, index),
                        first.line
                    ),
                );
            } else if !parameter.name.is_empty() {
                first_places.insert(parameter.name.clone(), item.position);
            }
            if parameter.string.is_none() && parameter.array.is_none() && parameter.map.is_none() {
                read.warn(
                    item.position,
                    format!(
                        "parameter {} has no value; set `string`, `array` or `map`",
                        title(&parameter.name, index)
                    ),
                );
            }
            read.positions.push(item.position);
            list.push(parameter);
        }
        read.list = Some(list);
        Ok(read)
    }

    /// Refuses the list if an entry has no name, as [`require_names`], with its place.
    pub fn require_names(&self) -> Result<(), NamelessParameter> {
        require_names(self.list.as_deref().unwrap_or_default()).map_err(|error| NamelessParameter {
            position: self.positions.get(error.index).copied(),
            ..error
        })
    }

    fn warn(&mut self, position: Position, message: String) {
        self.warnings.push(Warning { message, position: Some(position) });
    }
}

/// Refuses a list in which a parameter has no name or an empty one (proposal, Q/A 5). The first one is named.
pub fn require_names(parameters: &[Parameter]) -> Result<(), NamelessParameter> {
    match parameters.iter().position(|parameter| parameter.name.is_empty()) {
        Some(index) => Err(NamelessParameter { index, count: parameters.len(), position: None }),
        None => Ok(()),
    }
}

fn decode_parameter(
    node: &Node,
    path: &str,
    index: usize,
    warnings: &mut Vec<Warning>,
) -> Result<Parameter, DecodeError> {
    let mut object = Object::new(node, path)?;
    let mut parameter = Parameter {
        name: object.text("name")?.unwrap_or_default().to_owned(),
        string: object.text("string")?.map(str::to_owned),
        array: object.texts("array")?,
        map: object.text_map("map")?,
    };
    // A later `null` takes the text away again, while the list and the map are there as soon as their keys are.
    if object.all("string").last().is_some_and(|value| value.is_null()) {
        parameter.string = None;
    }
    if !object.all("array").is_empty() {
        parameter.array.get_or_insert_default();
    }
    let maps = object.all("map");
    if !maps.is_empty() {
        parameter.map.get_or_insert_default();
    }
    let title = title(&parameter.name, index);
    for key in object.duplicates() {
        warnings.push(Warning {
            message: format!(
                "parameter {title}: the key `{}` is given twice; the last one counts, and maps grow together",
                key.text
            ),
            position: Some(key.position),
        });
    }
    for value in maps {
        warn_of_map_keys(value, &title, warnings);
    }
    for entry in object.unknown() {
        let near = suggest(&entry.key.text, ["name", "string", "array", "map"]);
        let hint = match near.first() {
            Some(known) => format!("did you mean `{known}`?"),
            None => "a parameter has `name` and `string`, `array` or `map`".to_owned(),
        };
        warnings.push(Warning {
            message: format!(
                "parameter {title}: the key `{}` is unknown and ignored; {hint}",
                entry.key.text
            ),
            position: Some(entry.key.position),
        });
    }
    Ok(parameter)
}

fn warn_of_map_keys(map: &Node, title: &str, warnings: &mut Vec<Warning>) {
    let Data::Mapping(entries) = &map.data else { return };
    let mut seen = std::collections::BTreeSet::new();
    for entry in entries {
        if !seen.insert(&entry.key.text) {
            warnings.push(Warning {
                message: format!(
                    "parameter {title}: the map key `{}` is given twice; the last one counts",
                    entry.key.text
                ),
                position: Some(entry.key.position),
            });
        }
    }
}

/// What texts for people call a parameter.
fn title(name: &str, index: usize) -> String {
    if name.is_empty() { format!("{} (without a name)", index + 1) } else { format!("`{name}`") }
}

#[cfg(test)]
mod tests;
