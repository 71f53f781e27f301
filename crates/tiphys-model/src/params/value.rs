//! Parameters of an Application.

mod json;

use std::collections::BTreeMap;
use std::fmt;

use tiphys_yaml::{Data, DecodeError, Node, Object, Position};

use crate::params::suggest::suggest;

/// An entry of `spec.source.plugin.parameters`. A missing value and an empty one differ.
///
/// Its JSON form (serde) is the one of [`crate::params::app_parameters`]. Deserialization matches keys in any letter case and ignores unknown ones.
/// [`Parameters::decode`] decodes the same from a document, with positions and warnings. `Debug` writes no value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Name. It may be empty: [`require_names`] checks it.
    pub name: String,
    /// The string, if set.
    pub string: Option<String>,
    /// The list, if set.
    pub array: Option<Vec<String>>,
    /// The map, if set.
    pub map: Option<BTreeMap<String, String>>,
}

impl fmt::Debug for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parameter({:?})", self.name)
    }
}

/// Input that Argo CD accepts but that is probably a mistake: no value, a duplicate name, a duplicate key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The message, with the parameter's name.
    pub message: String,
    /// Position, if known.
    pub position: Option<Position>,
}

/// A decoded list of parameters, with positions and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The parameters in document order; `None` if the list is `null` or missing.
    pub list: Option<Vec<Parameter>>,
    /// Position of each entry.
    pub positions: Vec<Position>,
    /// Warnings in document order.
    pub warnings: Vec<Warning>,
}

/// A parameter without a name. No parameters are passed to plugins then (proposal, Q/A 5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "parameter {} of {count}{} has no name; every parameter needs a non-empty `name`",
    index + 1,
    position.map(|p| format!(" (line {}, column {})", p.line, p.column)).unwrap_or_default()
)]
pub struct NamelessParameter {
    /// Index, from 0 (the message counts from 1).
    pub index: usize,
    /// Number of parameters in the list.
    pub count: usize,
    /// Position, if known.
    pub position: Option<Position>,
}

impl Parameters {
    /// Decodes `parameters` like Argo CD's Go type. Keys match in any letter case, and a `null` entry is an empty parameter. `map: null`
    /// and `array: null` are present and empty, while `string: null` is absent. The last of duplicate keys wins, but maps are merged.
    /// `path` is the list's field path in errors.
    ///
    /// Pass a list from YAML through [`Node::deduplicated`] first, as Kubernetes' conversion to JSON does. Then maps are not merged, since
    /// only the last of duplicate keys is left.
    pub fn decode(node: &Node, path: &str) -> Result<Self, DecodeError> {
        let items = match &node.data {
            Data::Null => return Ok(Self::default()),
            Data::Sequence(items) => items,
            _ => return Err(DecodeError::mismatch(node, path, "a list of parameters")),
        };
        let mut read = Self { list: None, positions: Vec::new(), warnings: Vec::new() };
        let mut list: Vec<Parameter> = Vec::with_capacity(items.len());
        let mut first_positions: BTreeMap<String, Position> = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let parameter = decode_parameter(item, &format!("{path}[{index}]"), index, &mut read.warnings)?;
            if let Some(first) = first_positions.get(&parameter.name) {
                read.warn(
                    item.position,
                    format!(
                        "parameter {} is set twice, first on line {}; the plugin gets both, and of equal variables the later one",
                        title(&parameter.name, index),
                        first.line
                    ),
                );
            } else if !parameter.name.is_empty() {
                first_positions.insert(parameter.name.clone(), item.position);
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

    /// Like [`require_names`], with the position in the error.
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

/// Returns an error for the first parameter without a name or with an empty one (proposal, Q/A 5).
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
    // A later `null` removes the string, while the list and the map are set as soon as their keys occur.
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
        warn_about_map_keys(value, &title, warnings);
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

fn warn_about_map_keys(map: &Node, title: &str, warnings: &mut Vec<Warning>) {
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

/// Returns the identity of a parameter in messages.
fn title(name: &str, index: usize) -> String {
    if name.is_empty() { format!("{} (without a name)", index + 1) } else { format!("`{name}`") }
}

#[cfg(test)]
mod tests;
