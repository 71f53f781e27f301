//! The values that an Application sets for a chart.

use serde_json::Value;
use tiphys_helm_values::{HelmVersion, PathItem};
use tiphys_model::params::Parameter;
use tiphys_model::resources::ApplicationSource;

use super::actions::Actions;
use crate::SourceType;
use crate::helm::inline_values::InlineValues;
use crate::helm::value_path::ValuePath;
use crate::helm::{HELM_VALUE_PREFIXES, SET_FILE_PREFIX, has_plugin_values};
use crate::parameter_edit::written_parameters;

/// The parameter with the paths of value files.
const VALUE_FILES: &str = "value-files";

/// A value that an Application sets for a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartValue {
    /// The name of the parameter that has it: `set.a.b`, or `values` and `values-object` for inline values.
    pub parameter: String,
    /// The path of the value in the chart.
    pub path: ValuePath,
}

impl ChartValue {
    /// Returns the name that users give the value, as `set.a.b`.
    pub fn shown_name(&self) -> String {
        self.path.parameter().unwrap_or_else(|| self.parameter.clone())
    }

    /// Returns the names under which a plugin may announce the value: its own, and those of the lists and maps that it is in.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let parents = self.path.parents().filter_map(|(parent, _)| parent.parameter());
        self.path.parameter().into_iter().chain(parents)
    }

    /// Whether it is one of the inline values.
    pub fn is_inline(&self) -> bool {
        !HELM_VALUE_PREFIXES.iter().any(|prefix| self.parameter.starts_with(prefix))
    }
}

/// Returns the values that the parameters and the inline values of a source set; not those of value files. `plugin` is the name of the
/// chosen plugin; if it is unknown, the name in the block decides.
pub fn chart_values(source: &ApplicationSource, plugin: Option<&str>) -> Vec<ChartValue> {
    if source.helm.is_none() && !has_plugin_values(source, plugin) {
        return Vec::new();
    }
    let of_parameters = written(source, plugin).into_iter().filter_map(|parameter| {
        let name = HELM_VALUE_PREFIXES.iter().find_map(|prefix| parameter.name.strip_prefix(prefix))?;
        let path = ValuePath::of_name(name)?;
        Some(ChartValue { parameter: parameter.name, path })
    });
    let mut all: Vec<ChartValue> = of_parameters.collect();
    if let Ok(inline) = InlineValues::of(source, source_type(source), plugin) {
        let parameter = inline.parameter();
        let mut path = Vec::new();
        leaves(inline.values(), &mut path, &mut |path| {
            all.push(ChartValue { parameter: parameter.to_owned(), path: ValuePath::of_items(path) });
        });
    }
    all
}

/// Returns a warning for each line from which on helm ignores the text of a values file. Rules that only Helm 3 has do not count. `place` names
/// the file.
pub fn ignored_text(place: &str, text: &[u8]) -> Vec<String> {
    tiphys_helm_values::ignored_text(place, text, HelmVersion::V4)
}

/// Returns the keys in templates that the values of a source have. `None` if the values are not known.
pub(super) fn keys_in_templates(source: &ApplicationSource, plugin: Option<&str>) -> Option<Actions> {
    let mut read = Actions::default();
    for parameter in written(source, plugin) {
        let is_file = parameter.name.starts_with(SET_FILE_PREFIX);
        if is_file || parameter.name == VALUE_FILES && parameter.array.is_some_and(|files| !files.is_empty())
        {
            return None;
        }
        read.read(parameter.string.unwrap_or_default().as_bytes());
    }
    let is_known = source.dynamic_parameters().is_empty() && source.annotated_parameters.is_empty();
    (is_known && !read.uses_all_values && !read.writes_templates).then_some(read)
}

fn written(source: &ApplicationSource, plugin: Option<&str>) -> Vec<Parameter> {
    written_parameters(source, source_type(source), plugin)
}

/// Returns the type whose block has the values.
fn source_type(source: &ApplicationSource) -> SourceType {
    if source.helm.is_some() { SourceType::HELM } else { SourceType::Plugin }
}

/// Calls a function with the path of each value except maps with entries.
fn leaves(value: &Value, path: &mut Vec<PathItem>, found: &mut impl FnMut(&[PathItem])) {
    match value.as_object().filter(|map| !map.is_empty()) {
        Some(map) => {
            for (key, value) in map {
                path.push(PathItem::Key(key.clone()));
                leaves(value, path, found);
                path.pop();
            }
        }
        None if path.is_empty() => {}
        None => found(path),
    }
}
