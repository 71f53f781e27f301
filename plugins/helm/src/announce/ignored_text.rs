//! Warnings about text of values files that helm ignores.

use tiphys_chart::Chart;
use tiphys_helm_values::{HelmVersion, ignored_text};
use tiphys_tree::read_bounded;

use super::loaded_chart::values_file;
use super::value_files;
use crate::request::Request;

/// Returns the warnings about the values of a chart and its subcharts.
pub(super) fn of_chart(chart: &Chart, version: HelmVersion) -> Vec<String> {
    let own = ignored_text(&values_file(chart), &chart.values_yaml, version);
    own.into_iter().chain(chart.subcharts.iter().flat_map(|chart| of_chart(chart, version))).collect()
}

/// Returns the warnings about the value files and the inline values of a request, and its chart's own values. Files that cannot be read have
/// none: they fail in helm.
pub(crate) fn of_request(request: &Request, version: HelmVersion) -> Vec<String> {
    let bytes_max = request.settings.chart_bounds.bytes;
    let own = request.app_path.join("values.yaml");
    let text = read_bounded(&own, bytes_max as u64).ok().flatten().unwrap_or_default();
    let files = value_files(request, bytes_max).map(|(files, _)| files).unwrap_or_default();
    let of_files = files.iter().flat_map(|file| ignored_text(&file.shown(request), &file.bytes, version));
    ignored_text(&request.shown(&own), &text, version).into_iter().chain(of_files).collect()
}
