//! Warns about text of values files that helm ignores.

use tiphys_helm_values::HelmVersion;

use super::loaded_chart::{LoadedChart, below};

/// Returns a warning for each ignored part of the values of a chart and its subcharts.
pub(super) fn warnings(chart: &LoadedChart, version: HelmVersion) -> Vec<String> {
    let place = below(&chart.place, "values.yaml");
    let own = warnings_of(&place, &chart.ignored_from, version);
    own.chain(chart.subcharts.iter().flat_map(|subchart| warnings(subchart, version))).collect()
}

/// Returns a warning for each line from which on helm ignores a text.
pub(super) fn warnings_of(
    place: &str,
    lines: &[usize],
    version: HelmVersion,
) -> impl Iterator<Item = String> {
    let reason = match version {
        HelmVersion::V3 => "Helm 3 reads the first document only; merge the documents",
        HelmVersion::V4 => {
            "helm ignores what follows the end of a document (`...`); separate documents by `---` alone"
        }
    };
    lines.iter().map(move |line| format!("{place}:{line}: the text from this line on is lost: {reason}"))
}
