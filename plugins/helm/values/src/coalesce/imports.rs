//! `import-values`: values that a chart imports from its subcharts.
//!
//! If two imports affect the same object, Helm also changes the subchart's own object. Templates hardly ever see that, so it is omitted.

use super::tables::{Nulls, put_below};
use super::{Chart, CoalesceError, Import, Mode, Rules, coalesce_chart};
use crate::{HelmVersion, Map, Value};

/// Completes the chart's own values, as Helm does before it merges the user's. The values of subcharts are under their names, and the
/// imported ones below all others. The user's values do not affect imports.
pub(super) fn with_imports(chart: Chart, version: HelmVersion) -> Result<Chart, CoalesceError> {
    let subcharts = chart.subcharts.into_iter().map(|subchart| with_imports(subchart, version));
    let mut chart = Chart { subcharts: subcharts.collect::<Result<_, _>>()?, ..chart };
    let Some(dependencies) = &chart.dependencies else { return Ok(chart) };
    let mut values = coalesce_chart(&chart, Map::new(), Rules { version, mode: Mode::Merge })?;
    let nulls = Nulls { version, mode: Mode::Merge };
    let mut imported = Map::new();
    for dependency in dependencies {
        for import in &dependency.imports {
            if let Some(table) = table(&values, &dependency.name, import) {
                put_below(&mut imported, below(&import.parent, table.clone()), nulls);
            }
        }
    }
    put_below(&mut values, imported, nulls);
    chart.values = values;
    Ok(chart)
}

/// Returns the imported object; Helm warns if it is missing.
fn table<'a>(values: &'a Map, subchart: &str, import: &Import) -> Option<&'a Map> {
    [subchart]
        .into_iter()
        .chain(import.child.split('.'))
        .try_fold(values, |table, key| table.get(key).and_then(Value::as_map))
}

/// Wraps an object in the path.
fn below(path: &str, table: Map) -> Map {
    if path == "." {
        return table;
    }
    path.rsplit('.').fold(table, |inner, key| Map::from([(key.to_owned(), Value::Map(inner))]))
}
