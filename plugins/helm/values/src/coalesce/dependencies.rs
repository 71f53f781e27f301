//! Evaluates the tags and conditions of a chart's dependencies.

use super::{Chart, CoalesceError, Dependency, Rules, coalesce_chart};
use crate::{Map, Value};

/// Returns the chart without the subcharts, at any depth, that its dependencies disable. `path` is the names of the parent charts, each
/// with a trailing dot: conditions of a subchart are paths below its own in the values of all.
pub(super) fn without_disabled(
    chart: &Chart,
    values: &Map,
    path: &str,
    rules: Rules,
) -> Result<Chart, CoalesceError> {
    let Some(dependencies) = &chart.dependencies else { return Ok(chart.clone()) };
    // Helm passes all of a chart's values to its subcharts here, so a value at the top may conflict with a nested subchart. That is an
    // error in Helm, and so it is here.
    let values = coalesce_chart(chart, values.clone(), rules)?;
    let is_disabled = |name: &str| {
        dependencies
            .iter()
            .any(|dependency| dependency.name == name && !is_enabled(dependency, &values, path))
    };
    let subcharts = chart
        .subcharts
        .iter()
        .filter(|subchart| !is_disabled(&subchart.name))
        .map(|subchart| without_disabled(subchart, &values, &format!("{path}{}.", subchart.name), rules));
    let subcharts = subcharts.collect::<Result<_, _>>()?;
    let kept: Vec<_> =
        dependencies.iter().filter(|dependency| !is_disabled(&dependency.name)).cloned().collect();
    let dependencies = (!kept.is_empty()).then_some(kept);
    Ok(Chart { name: chart.name.clone(), values: chart.values.clone(), subcharts, dependencies })
}

/// The first boolean condition decides. Without one: a true tag, or no false tag.
fn is_enabled(dependency: &Dependency, values: &Map, path: &str) -> bool {
    let conditions = dependency.condition.trim().split(',').filter(|condition| !condition.is_empty());
    let mut answers =
        conditions.filter_map(|condition| match value_at(values, &format!("{path}{condition}")) {
            Some(Value::Bool(answer)) => Some(*answer),
            _ => None,
        });
    answers.next().unwrap_or_else(|| is_enabled_by_tags(dependency, values))
}

fn is_enabled_by_tags(dependency: &Dependency, values: &Map) -> bool {
    let Some(Value::Map(tags)) = values.get("tags") else { return true };
    let mut answers = dependency.tags.iter().filter_map(|tag| match tags.get(tag) {
        Some(Value::Bool(answer)) => Some(*answer),
        _ => None,
    });
    match answers.next() {
        None | Some(true) => true,
        Some(false) => answers.any(|answer| answer),
    }
}

/// Returns the value at a dot-separated path.
fn value_at<'a>(values: &'a Map, path: &str) -> Option<&'a Value> {
    let (above, key) = path.rsplit_once('.').map_or((None, path), |(above, key)| (Some(above), key));
    let table = above
        .into_iter()
        .flat_map(|above| above.split('.'))
        .try_fold(values, |table, key| table.get(key).and_then(Value::as_map));
    table?.get(key)
}
