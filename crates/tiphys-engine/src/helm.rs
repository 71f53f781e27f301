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

use serde_json::Value;
use tiphys_model::params::Parameter;
use tiphys_model::resources::HelmSource;
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
    pub parameter: &'static str,
    access: Access,
}

/// How a field is read and written, by its type.
#[derive(Debug)]
enum Access {
    Text(fn(&HelmSource) -> &String, fn(&mut HelmSource) -> &mut String),
    Switch(fn(&HelmSource) -> bool, fn(&mut HelmSource) -> &mut bool),
    List(fn(&HelmSource) -> &Vec<String>, fn(&mut HelmSource) -> &mut Vec<String>),
    /// `valuesObject`, as JSON text.
    Values,
}

/// Every field of the block except `parameters` and `fileParameters`.
pub const HELM_FIELDS: [HelmField; 13] = [
    HelmField {
        field: "releaseName",
        parameter: "release-name",
        access: Access::Text(|block| &block.release_name, |block| &mut block.release_name),
    },
    HelmField {
        field: "namespace",
        parameter: "namespace",
        access: Access::Text(|block| &block.namespace, |block| &mut block.namespace),
    },
    HelmField {
        field: "kubeVersion",
        parameter: "kube-version",
        access: Access::Text(|block| &block.kube_version, |block| &mut block.kube_version),
    },
    HelmField {
        field: "apiVersions",
        parameter: "api-versions",
        access: Access::List(|block| &block.api_versions, |block| &mut block.api_versions),
    },
    HelmField {
        field: "version",
        parameter: "version",
        access: Access::Text(|block| &block.version, |block| &mut block.version),
    },
    HelmField {
        field: "valueFiles",
        parameter: "value-files",
        access: Access::List(|block| &block.value_files, |block| &mut block.value_files),
    },
    HelmField {
        field: "ignoreMissingValueFiles",
        parameter: "ignore-missing-value-files",
        access: Access::Switch(
            |block| block.ignore_missing_value_files,
            |block| &mut block.ignore_missing_value_files,
        ),
    },
    HelmField {
        field: "values",
        parameter: "values",
        access: Access::Text(|block| &block.values, |block| &mut block.values),
    },
    HelmField { field: "valuesObject", parameter: "values-object", access: Access::Values },
    HelmField {
        field: "skipCrds",
        parameter: "skip-crds",
        access: Access::Switch(|block| block.skip_crds, |block| &mut block.skip_crds),
    },
    HelmField {
        field: "skipTests",
        parameter: "skip-tests",
        access: Access::Switch(|block| block.skip_tests, |block| &mut block.skip_tests),
    },
    HelmField {
        field: "skipSchemaValidation",
        parameter: "skip-schema-validation",
        access: Access::Switch(
            |block| block.skip_schema_validation,
            |block| &mut block.skip_schema_validation,
        ),
    },
    HelmField {
        field: "passCredentials",
        parameter: "pass-credentials",
        access: Access::Switch(|block| block.pass_credentials, |block| &mut block.pass_credentials),
    },
];

/// The parameter of the Helm plugin that no field of the block has.
const KUSTOMIZE_FOLDER: &str = "kustomize-dir";

/// Returns the names of the Helm plugin's parameters besides values of a chart.
pub fn helm_parameter_names<'a>() -> impl Iterator<Item = &'a str> {
    HELM_FIELDS.iter().map(|field| -> &'a str { field.parameter }).chain([KUSTOMIZE_FOLDER])
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
        matches!(self.access, Access::List(..))
    }

    /// Returns the parameter if the field is set. Argo CD does not distinguish unset and empty fields.
    fn parameter_of(&self, block: &HelmSource) -> Option<Parameter> {
        let text = |text: String| Parameter {
            name: self.parameter.to_owned(),
            string: Some(text),
            ..Parameter::default()
        };
        match &self.access {
            Access::Text(get, _) => Some(get(block)).filter(|value| !value.is_empty()).cloned().map(text),
            Access::Switch(get, _) => get(block).then(|| text("true".to_owned())),
            Access::List(get, _) => {
                Some(get(block)).filter(|items| !items.is_empty()).map(|items| Parameter {
                    name: self.parameter.to_owned(),
                    array: Some(items.clone()),
                    ..Parameter::default()
                })
            }
            Access::Values => block.values_object.as_ref().map(|values| text(write_go_json(values))),
        }
    }

    /// Sets the field to the parameter's value; `None` clears it.
    fn set(&self, block: &mut HelmSource, parameter: Option<&Parameter>) -> Result<(), FieldProblem> {
        let text = || match parameter {
            None => Ok(None),
            Some(parameter) => parameter.string.as_deref().map(Some).ok_or(FieldProblem::Kind("string")),
        };
        match &self.access {
            Access::Text(_, field) => text()?.unwrap_or_default().clone_into(field(block)),
            Access::Switch(_, field) => {
                *field(block) = match text()? {
                    None | Some("false") => false,
                    Some("true") => true,
                    Some(_) => return Err(FieldProblem::Switch),
                }
            }
            Access::List(_, field) => {
                *field(block) = match parameter {
                    None => Vec::new(),
                    Some(parameter) => parameter.array.clone().ok_or(FieldProblem::Kind("array"))?,
                }
            }
            Access::Values => block.values_object = text()?.map(values_of).transpose()?,
        }
        Ok(())
    }
}

fn values_of(text: &str) -> Result<Value, FieldProblem> {
    read_json(text.as_bytes()).map(|node| node.to_value()).map_err(|_not_json| FieldProblem::Json)
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
    let fields = HELM_FIELDS.iter().filter_map(|field| field.parameter_of(block));
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
