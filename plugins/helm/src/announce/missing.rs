//! Dependencies without a chart, whose values are not announced.

use tiphys_chart::PlacedChart;
use tiphys_helm_values::{Chart, HelmVersion, Map, enabled};

use crate::chart::Dependency;
use crate::redaction::Redactor;

/// A dependency, with the names of its parent charts.
type Missing<'a> = (Vec<&'a str>, &'a Dependency);

/// Returns the dependencies without a chart that these values enable.
pub(super) fn missing<'a>(chart: &PlacedChart<'a>, values: &Map, version: HelmVersion) -> Vec<Missing<'a>> {
    let mut found = Vec::new();
    if has_missing(chart) {
        let mut with_empty = chart.as_values();
        add_empty_charts(chart, &mut with_empty);
        // Values that do not match the chart are reported when they are merged.
        let enabled = enabled(&with_empty, values, version).unwrap_or_default();
        add_missing(chart, &enabled, &mut Vec::new(), &mut found);
    }
    found
}

fn has_missing(chart: &PlacedChart<'_>) -> bool {
    !chart.missing.is_empty() || chart.subcharts.iter().any(has_missing)
}

/// Adds an empty chart for each missing dependency to the same chart as input of the merge of values.
fn add_empty_charts(placed: &PlacedChart<'_>, chart: &mut Chart) {
    for (placed, chart) in placed.subcharts.iter().zip(&mut chart.subcharts) {
        add_empty_charts(placed, chart);
    }
    let empty = |one: &&Dependency| Chart { name: one.known_as().to_owned(), ..Chart::default() };
    chart.subcharts.extend(placed.missing.iter().map(empty));
}

fn add_missing<'a>(
    chart: &PlacedChart<'a>,
    enabled: &Chart,
    parents: &mut Vec<&'a str>,
    found: &mut Vec<Missing<'a>>,
) {
    let is_enabled = |name: &str| enabled.subcharts.iter().find(|subchart| subchart.name == name);
    let missing = chart.missing.iter().filter(|one| is_enabled(one.known_as()).is_some());
    found.extend(missing.map(|one| (parents.clone(), *one)));
    for subchart in &chart.subcharts {
        if let Some(enabled) = is_enabled(subchart.name) {
            parents.push(subchart.name);
            add_missing(subchart, enabled, parents, found);
            parents.pop();
        }
    }
}

/// Returns a warning that names these dependencies. `None` without any.
pub(super) fn warning(missing: &[Missing<'_>]) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let names: Vec<String> = missing.iter().map(|(parents, one)| described(parents, one)).collect();
    let (charts, reason) = if names.len() == 1 {
        ("the subchart", "its chart is missing")
    } else {
        ("these subcharts", "their charts are missing")
    };
    Some(format!(
        "the values of {charts} are not listed, since {reason}: {}; run `helm dependency build`, or name a folder with the chart: \
         --repo URL=DIR",
        names.join(", ")
    ))
}

/// Returns the name, the version and the repository.
fn described(parents: &[&str], dependency: &Dependency) -> String {
    let name = parents.iter().copied().chain([dependency.known_as()]).collect::<Vec<_>>().join("/");
    let Dependency { repository, version, .. } = dependency;
    let redactor = Redactor::default().with_urls([repository.as_str()]);
    let repository = redactor.redact(repository);
    match (version.as_str(), repository.as_str()) {
        ("", "") => name,
        (version, "") => format!("{name} ({version})"),
        ("", repository) => format!("{name} ({repository})"),
        (version, repository) => format!("{name} ({version} of {repository})"),
    }
}

#[cfg(test)]
mod tests;
