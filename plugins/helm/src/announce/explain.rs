//! `explain`: what sets one value, or each of them, highest precedence first.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};
use tiphys_helm_values::{PathItem, parse_name};

use super::documents::{Reading, Written, null_above};
use super::layers::{Layer, LayerPlace, add_defaults, places};
use super::{AnnounceError, Enabled, Printed, Text, ValueSources};
use crate::exact_value::{EXACT, ExactValue};
use crate::options::{Assignment, AssignmentKind, assignment_name};
use crate::request::Request;

/// Returns what sets the value of a parameter: other parameters, inline values, value files, and the values of charts. Empty for a parameter
/// that is not one value of the chart. An entry for the parameter itself has no value. Without a parameter, returns an object with this list
/// for each announced or set parameter that is a value of the chart.
pub(crate) fn explain(request: &Request, parameter: Option<&str>) -> Result<Printed, AnnounceError> {
    if parameter.is_some_and(|name| path_of(name).is_none()) {
        return Ok(Printed { json: b"[]\n".to_vec(), warnings: Vec::new() });
    }
    let sources = ValueSources::read(request)?;
    let enabled = Enabled::of(request, &sources)?;
    let layers = Layers {
        request,
        sources: &sources,
        enabled: &enabled,
        reading: Reading { version: sources.version, nodes_max: request.settings.commented_nodes_max },
        parameters: of_parameters(request),
    };
    let json = if let Some(name) = parameter {
        layers.json(name).unwrap_or_default()
    } else {
        let announced = enabled.announcements(request, &sources)?.into_iter().map(|one| one.name);
        let names: BTreeSet<String> =
            announced.chain(layers.parameters.iter().map(|(name, _)| name.clone())).collect();
        let explained = names.into_iter().filter_map(|name| Some((name.clone(), layers.json(&name)?)));
        Value::Object(explained.collect::<Map<_, _>>())
    };
    let redactor = request.redactor();
    let left_out = sources.left_out.iter();
    let warnings = left_out
        .map(|url| format!("the value file {} is not read, since it has a URL", redactor.redact(url)));
    Ok(Printed { json: format!("{json}\n").into_bytes(), warnings: warnings.collect() })
}

/// Returns the path of a parameter that is one value of the chart.
fn path_of(parameter: &str) -> Option<Vec<PathItem>> {
    let name = assignment_name(parameter).map(|(_, name)| name).or_else(|| parameter.strip_prefix(EXACT));
    parse_name(name?).ok()
}

/// Returns the parameters that set values of the chart, with the paths of these values, highest precedence first.
fn of_parameters(request: &Request) -> Vec<(String, Vec<PathItem>)> {
    let options = &request.options;
    let exact = options.exact_values.iter().rev().map(ExactValue::place);
    let mut all: Vec<_> = exact.map(|(name, path)| (format!("{EXACT}{name}"), path.to_vec())).collect();
    for kind in [AssignmentKind::File, AssignmentKind::Text, AssignmentKind::Value] {
        let of_kind = options.assignments.iter().rev().filter(|one| one.kind == kind);
        let named = of_kind.map(|one| format!("{}{}", kind.prefix(), one.name));
        all.extend(named.filter_map(|name| Some((name.clone(), path_of(&name)?))));
    }
    all
}

/// The possible settings of values.
struct Layers<'a> {
    request: &'a Request,
    sources: &'a ValueSources,
    enabled: &'a Enabled<'a>,
    reading: Reading,
    parameters: Vec<(String, Vec<PathItem>)>,
}

impl Layers<'_> {
    /// Returns what sets the value of a parameter as JSON. `None` if it is not a value of the chart.
    fn json(&self, parameter: &str) -> Option<Value> {
        let path = path_of(parameter)?;
        let mut layers: Vec<Layer> = self.of_parameters(&path).collect();
        let Enabled { chart, given, .. } = self.enabled;
        for path in places(chart, &path) {
            for text in self.sources.files.iter().rev() {
                layers.extend(self.of_text(text, &path));
                // Helm merges the files first, so a null hides what is in earlier ones.
                if text.documents.null_above(&text.bytes, self.reading, &path).is_some() {
                    break;
                }
            }
            let removed = null_above(given, &path).unwrap_or_default();
            add_defaults(&self.sources.chart, chart, &path, removed, self.reading, &mut layers);
        }
        Some(layers.iter().map(Layer::json).collect())
    }

    /// Returns the parameters that set the value, or an object or list around it.
    fn of_parameters(&self, path: &[PathItem]) -> impl Iterator<Item = Layer> {
        let covering = self.parameters.iter().filter(|(_, set)| path.starts_with(set));
        covering.map(move |(name, set)| Layer {
            kind: "parameter",
            place: LayerPlace::Parameter(name.clone(), Vec::new()),
            written: if set == path { self.of_file(name) } else { None },
        })
    }

    /// Returns what the file of a parameter has. `None` for another parameter, and for a file with a URL or one that fails in `generate`.
    fn of_file(&self, parameter: &str) -> Option<Written> {
        let name = parameter.strip_prefix(AssignmentKind::File.prefix())?;
        let is_set = |one: &&Assignment| one.kind == AssignmentKind::File && one.name == name;
        let set = self.request.options.assignments.iter().rfind(is_set)?;
        let file = self.request.places().set_file(&set.name, &set.value).ok()?;
        let max = self.request.settings.chart_bounds.bytes;
        let bytes = Path::new(&file).is_absolute().then(|| super::read(&file, max, max).ok()?).flatten()?;
        Some(Written { line: 1, text: Some(String::from_utf8(bytes).ok()?) })
    }

    /// Returns the settings in the documents of a text.
    fn of_text(&self, text: &Text, path: &[PathItem]) -> Vec<Layer> {
        let layer = |written: Written| {
            let written = Some(written);
            match text.parameter {
                Some(parameter) => {
                    let place = LayerPlace::Parameter(parameter.to_owned(), path.to_vec());
                    Layer { kind: "inline-values", place, written }
                }
                None => {
                    Layer { kind: "value-file", place: LayerPlace::File(text.shown(self.request)), written }
                }
            }
        };
        text.documents.written(&text.bytes, self.reading, path).into_iter().map(layer).collect()
    }
}
