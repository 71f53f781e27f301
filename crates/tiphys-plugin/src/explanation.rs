//! The layers of a parameter's value, as `parameters.explain` of a plugin's file prints them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tiphys_yaml::{Data, DecodeError, Entry, Node, Object, Step, read_json};

/// Variable with the name of the parameter that `parameters.explain` is run for. Not set if it is run for all.
pub const PARAMETER_VARIABLE: &str = "TIPHYS_PARAMETER";

/// One setting of a parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueLayer {
    /// The kind of setting, in the plugin's words: `value-file`, `chart-default`.
    pub kind: String,
    /// Where the value is set.
    pub place: LayerPlace,
    /// The value: `{"string" | "array" | "map": …}`; `null` if it is null or unknown.
    pub value: Value,
}

/// The place of a [`ValueLayer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerPlace {
    /// A file of the source, and a line of it, from 1.
    File {
        /// Its path in the repository, or `$NAME/PATH` in another source.
        file: String,
        /// The line.
        line: Option<usize>,
    },
    /// The value of a parameter of the request, or a part of it.
    Parameter {
        /// The parameter's name.
        name: String,
        /// The path of the part. Empty for the whole value.
        path: Vec<Step>,
        /// The line of the part in the parameter's string, from 1.
        line: Option<usize>,
    },
}

/// The result of `explain`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The settings, highest precedence first.
    pub layers: Vec<ValueLayer>,
    /// Warnings that the plugin printed.
    pub warnings: Vec<String>,
}

/// The results of one `explain` for all parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanations {
    /// The settings of each explained parameter, highest precedence first.
    pub layers: BTreeMap<String, Vec<ValueLayer>>,
    /// Warnings that the plugin printed.
    pub warnings: Vec<String>,
}

/// Decodes the output of `parameters.explain` for one parameter: a list of objects; `null` means none. Unknown fields are ignored. The error
/// says what is wrong.
pub(crate) fn decode(stdout: &[u8]) -> Result<Vec<ValueLayer>, String> {
    layers(&read_json(stdout).map_err(|error| error.to_string())?, "")
}

/// Decodes the output of `parameters.explain` for all parameters: an object with a list for each; `null` means none.
pub(crate) fn decode_all(stdout: &[u8]) -> Result<BTreeMap<String, Vec<ValueLayer>>, String> {
    let node = read_json(stdout).map_err(|error| error.to_string())?;
    match &node.data {
        Data::Null => Ok(BTreeMap::new()),
        Data::Mapping(entries) => {
            let of = |entry: &Entry| Ok((entry.key.text.clone(), layers(&entry.value, &entry.key.text)?));
            entries.iter().map(of).collect()
        }
        _ => Err(format!("expected an object with a list for each parameter, found {}", node.type_words())),
    }
}

fn layers(node: &Node, path: &str) -> Result<Vec<ValueLayer>, String> {
    let items = match &node.data {
        Data::Null => return Ok(Vec::new()),
        Data::Sequence(items) => items,
        _ => return Err(format!("expected a list, found {}", node.type_words())),
    };
    let layers = items.iter().enumerate().map(|(index, item)| layer(item, format!("{path}[{index}]")));
    layers.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn layer(node: &Node, path: String) -> Result<ValueLayer, DecodeError> {
    let mut fields = Object::new(node, path)?;
    let kind = fields.text("kind")?.unwrap_or_default().to_owned();
    let line = match fields.get("line") {
        None => None,
        Some(node) => match node.data {
            Data::Null => None,
            Data::Integer(line) => usize::try_from(line).ok().filter(|line| *line > 0),
            _ => return Err(DecodeError::mismatch(node, &fields.path_of("line"), "a number")),
        },
    };
    let place = match (fields.text("file")?, fields.text("parameter")?) {
        (Some(file), None) => LayerPlace::File { file: file.to_owned(), line },
        (None, Some(name)) => {
            LayerPlace::Parameter { name: name.to_owned(), path: path_of_part(&mut fields)?, line }
        }
        _ => {
            return Err(DecodeError::mismatch(
                node,
                fields.path(),
                "an object with either file or parameter",
            ));
        }
    };
    let mut value = Map::new();
    if let Some(text) = fields.text("string")? {
        value.insert("string".to_owned(), json!(text));
    } else if let Some(items) = fields.texts("array")? {
        value.insert("array".to_owned(), json!(items));
    } else if let Some(map) = fields.text_map("map")? {
        value.insert("map".to_owned(), json!(map));
    }
    let value = if value.is_empty() { Value::Null } else { Value::Object(value) };
    Ok(ValueLayer { kind, place, value })
}

/// Decodes `path`: a list of keys and indexes.
fn path_of_part(fields: &mut Object<'_>) -> Result<Vec<Step>, DecodeError> {
    let path = fields.path_of("path");
    let step = |node: &Node| match &node.data {
        Data::String(key) => Ok(Step::Key(key.clone())),
        Data::Integer(index) if *index >= 0 => Ok(Step::Index(usize::try_from(*index).unwrap_or(usize::MAX))),
        _ => Err(DecodeError::mismatch(node, &path, "a list of keys and indexes")),
    };
    fields.list("path")?.unwrap_or_default().iter().map(step).collect()
}

#[cfg(test)]
mod tests;
