//! The `helm` block of a source and the parameters of the plugin `helm`, with one table for both directions.
//!
//! Each field has a parameter with a fixed name ([`HELM_FIELDS`]). Each entry of `parameters` and `fileParameters` becomes a parameter of
//! its own, in order, named `set.`, `set-string.` or `set-file.` followed by the path of the value.

mod chart_keys;
mod inline_scalar;
mod inline_values;
mod precedence;
mod shown;
mod value_path;
mod value_text;

use std::sync::LazyLock;

use serde_json::Value;
use tiphys_model::params::Parameter;
use tiphys_model::resources::{GoFields, GoStruct, GoType, HelmSource};
use tiphys_yaml::{read_json, write_go_json};

pub use chart_keys::{ChartKeys, ChartValue, chart_values, ignored_text};
pub use inline_scalar::inline_scalar;
pub use inline_values::{
    InlineValues, InlineValuesError, is_list_or_map, is_structure, shown_announced_name, shown_announcements,
    structure_default,
};
pub use precedence::ValueParameters;
pub(crate) use shown::{
    Knowledge, NoField, is_ambiguous, is_for_helm, plain_paths, plugin_values, seen_name,
    set_plugin_parameters, set_shown, shown_parameters, shown_plugin_parameters, split,
};
pub use shown::{handed_on_name, has_plugin_values, is_held_as_text, replaced_variables, shown_name};
pub use value_path::{ValuePath, assigned_value_name};
pub(crate) use value_text::Typing;
pub use value_text::{VariableNames, Variables, build_variables};

/// Name prefix of a parameter that is an entry of the block's `parameters`.
pub const SET_PREFIX: &str = "set.";

/// Name prefix of a parameter that is an entry of the block's `parameters` with `forceString`.
pub const SET_STRING_PREFIX: &str = "set-string.";

/// Name prefix of a parameter that is an entry of the block's `fileParameters`.
pub const SET_FILE_PREFIX: &str = "set-file.";

/// Name prefix of a dynamic parameter: its value is JSON, and no variables are replaced in it.
pub const VALUE_PREFIX: &str = "value.";

/// Name prefixes of single values. Any path may follow, because a chart also accepts values that it does not list.
pub const HELM_VALUE_PREFIXES: [&str; 3] = [SET_PREFIX, SET_STRING_PREFIX, SET_FILE_PREFIX];

/// A field of the block and its parameter.
#[derive(Debug)]
pub struct HelmField {
    /// The name of the field.
    pub field: &'static str,
    /// The name of the parameter.
    pub parameter: String,
    kind: &'static GoType,
}

/// Every field of Argo CD's block except `parameters` and `fileParameters`.
pub static HELM_FIELDS: LazyLock<Vec<HelmField>> = LazyLock::new(|| {
    static BLOCK: GoStruct = HelmSource::GO;
    let of_values = ["parameters", "fileParameters"];
    let fields = BLOCK.fields.iter().filter(|field| !of_values.contains(&field.name));
    fields
        .map(|field| HelmField {
            field: field.name,
            parameter: kebab_case(field.name),
            kind: field.kind.base(),
        })
        .collect()
});

fn kebab_case(name: &str) -> String {
    let part = |letter: char| match letter {
        'A'..='Z' => format!("-{}", letter.to_ascii_lowercase()),
        _ => letter.to_string(),
    };
    name.chars().map(part).collect()
}

/// The parameter of the Helm plugin that no field of the block has.
const KUSTOMIZE_FOLDER: &str = "kustomize-dir";

/// Returns the names of the Helm plugin's parameters besides values of a chart.
pub fn helm_parameter_names<'a>() -> impl Iterator<Item = &'a str> {
    HELM_FIELDS.iter().map(|field| -> &'a str { &field.parameter }).chain([KUSTOMIZE_FOLDER])
}

/// A field that cannot take a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldProblem {
    /// Another kind of value; the field needs this one, `string` or `array`.
    Kind(&'static str),
    /// Neither `true` nor `false`.
    Switch,
    /// Invalid JSON.
    Json,
}

impl HelmField {
    /// Returns whether the parameter is a list of strings, not a single string.
    pub fn is_list(&self) -> bool {
        matches!(self.kind, GoType::List(_))
    }

    /// Returns the parameter if the field of a block is set. Argo CD does not distinguish unset and empty fields.
    fn parameter_of(&self, block: &Value) -> Option<Parameter> {
        let mut parameter = Parameter { name: self.parameter.clone(), ..Parameter::default() };
        match (self.kind, block.get(self.field)?) {
            (GoType::List(_), Value::Array(items)) => {
                parameter.array = Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            }
            (GoType::String, Value::String(text)) => parameter.string = Some(text.clone()),
            // Booleans, and free JSON.
            (_, value) => parameter.string = Some(write_go_json(value)),
        }
        Some(parameter)
    }

    /// Sets the field to the parameter's value; `None` clears it.
    fn set(&self, block: &mut HelmSource, parameter: Option<&Parameter>) -> Result<(), FieldProblem> {
        let value = parameter.map_or(Ok(Value::Null), |parameter| self.value_of(parameter))?;
        let mut fields = to_json(block);
        fields[self.field] = value;
        *block = HelmSource::of_json(&fields).map_err(|_not_of_its_type| FieldProblem::Json)?;
        Ok(())
    }

    fn value_of(&self, parameter: &Parameter) -> Result<Value, FieldProblem> {
        if self.is_list() {
            return parameter.array.clone().map(Value::from).ok_or(FieldProblem::Kind("array"));
        }
        let text = parameter.string.as_deref().ok_or(FieldProblem::Kind("string"))?;
        match self.kind {
            GoType::Bool => text.parse().map(Value::Bool).map_err(|_neither| FieldProblem::Switch),
            GoType::String => Ok(Value::from(text)),
            _ => match read_json(text.as_bytes()) {
                Ok(node) => Ok(node.to_value()),
                Err(_) => Err(FieldProblem::Json),
            },
        }
    }
}

fn to_json(block: &HelmSource) -> Value {
    serde_json::to_value(block).unwrap_or_default()
}

/// Returns the parameters for a block: the fields in table order, then `parameters` and `fileParameters` in theirs, with duplicates.
/// Variables are not replaced: the plugin does that, because it knows in which fields Argo CD does.
pub(crate) fn helm_parameters(block: &HelmSource) -> Vec<Parameter> {
    let set = block.parameters.iter().map(|entry| {
        let prefix = if entry.force_string { SET_STRING_PREFIX } else { SET_PREFIX };
        text_parameter(prefix, &entry.name, &entry.value)
    });
    let files =
        block.file_parameters.iter().map(|entry| text_parameter(SET_FILE_PREFIX, &entry.name, &entry.path));
    let json = to_json(block);
    let fields = HELM_FIELDS.iter().filter_map(|field| field.parameter_of(&json));
    fields.chain(set).chain(files).collect()
}

/// Returns the path of a single value's parameter; `None` for other parameters.
pub(crate) fn helm_value_path(parameter: &str) -> Option<&str> {
    HELM_VALUE_PREFIXES.iter().chain([&VALUE_PREFIX]).find_map(|prefix| parameter.strip_prefix(prefix))
}

fn text_parameter(prefix: &str, name: &str, value: &str) -> Parameter {
    Parameter { name: format!("{prefix}{name}"), string: Some(value.to_owned()), ..Parameter::default() }
}

#[cfg(test)]
mod tests;
