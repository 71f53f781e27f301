//! `explain`: what sets one value, highest precedence first.

use tiphys_helm_values::{PathItem, parse_name};

use super::layers::{Layer, LayerPlace, add_defaults, places, written};
use super::placed_chart::PlacedChart;
use super::single::Single;
use super::{AnnounceError, Printed, Text, ValueSources, enabled_chart, given};
use crate::exact_value::EXACT;
use crate::options::{AssignmentKind, assignment_name};
use crate::request::Request;

/// Returns what sets the value of a parameter: other parameters, inline values, value files, and the values of charts. Empty for a parameter
/// that is not one value of the chart. An entry for the parameter itself has no value.
pub(crate) fn explain(request: &Request, parameter: &str) -> Result<Printed, AnnounceError> {
    let name = assignment_name(parameter).map(|(_, name)| name).or_else(|| parameter.strip_prefix(EXACT));
    let Some(path) = name.and_then(|name| parse_name(name).ok()) else {
        return Ok(Printed { json: b"[]\n".to_vec(), warnings: Vec::new() });
    };
    let nodes_max = request.settings.commented_nodes_max;
    let ValueSources { chart, files, left_out, version } = ValueSources::read(request)?;
    let mut chart = PlacedChart::new(&chart, request.settings.chart_bounds)?;
    let given = given(&files, version)?;
    let assigned = Single::of(request).over(&given, version);
    chart.keep(&enabled_chart(&chart, assigned.as_ref().unwrap_or(&given), version)?);
    let mut layers = of_parameters(request, &path);
    for path in places(&chart, &path) {
        layers.extend(files.iter().rev().filter_map(|text| of_text(request, text, &path, nodes_max)));
        add_defaults(&chart, &path, nodes_max, &mut layers);
    }
    let redactor = request.redactor();
    let warnings = left_out
        .iter()
        .map(|url| format!("the value file {} is not read, since it has a URL", redactor.redact(url)));
    let json: serde_json::Value = layers.iter().map(Layer::json).collect();
    Ok(Printed { json: format!("{json}\n").into_bytes(), warnings: warnings.collect() })
}

/// Returns the parameters that set the value, or an object or list around it.
fn of_parameters(request: &Request, path: &[PathItem]) -> Vec<Layer> {
    let layer = |prefix: &str, name: &str| Layer {
        kind: "parameter",
        place: LayerPlace::Parameter(format!("{prefix}{name}"), Vec::new()),
        written: None,
    };
    let options = &request.options;
    let exact = options.exact_values.iter().rev().map(crate::exact_value::ExactValue::place);
    let exact = exact.filter(|(_, set)| path.starts_with(set)).map(|(name, _)| layer(EXACT, name));
    let mut layers: Vec<Layer> = exact.collect();
    for kind in [AssignmentKind::File, AssignmentKind::Text, AssignmentKind::Value] {
        let of_kind = options.assignments.iter().rev().filter(|one| one.kind == kind);
        let sets = |name: &str| parse_name(name).is_ok_and(|set| path.starts_with(&set));
        layers.extend(of_kind.filter(|one| sets(&one.name)).map(|one| layer(kind.prefix(), &one.name)));
    }
    layers
}

fn of_text(request: &Request, text: &Text, path: &[PathItem], nodes_max: usize) -> Option<Layer> {
    let written = Some(written(&text.bytes, path, nodes_max)?);
    Some(match text.parameter {
        Some(parameter) => {
            let place = LayerPlace::Parameter(parameter.to_owned(), path.to_vec());
            Layer { kind: "inline-values", place, written }
        }
        None => Layer { kind: "value-file", place: LayerPlace::File(shown(request, &text.place)), written },
    })
}

/// Returns a file's path in its repository: `$NAME/PATH` in another source.
fn shown(request: &Request, file: &str) -> String {
    let below = |root: &std::path::Path| {
        let path = std::path::Path::new(file).strip_prefix(root).ok()?;
        Some(path.to_string_lossy().into_owned())
    };
    let of_source = |(name, tree): (&String, &tiphys_model::access::RefTree)| {
        below(&tree.path).map(|path| format!("${name}/{path}"))
    };
    let own = below(&request.root);
    own.or_else(|| request.context.refs.iter().find_map(of_source)).unwrap_or_else(|| file.to_owned())
}
