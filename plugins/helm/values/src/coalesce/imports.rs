//! `import-values`: what a chart takes over from its subcharts.
//!
//! Where two imports meet in one object, Helm also changes the subchart's own object, which templates hardly ever look at; that is
//! left out here.

use super::tables::{Nulls, put_below};
use super::{Chart, CoalesceError, Import, Mode, Rules, coalesce_chart};
use crate::{HelmVersion, Map, Value};

/// The chart with its own values completed, as Helm does before it looks at the user's: a chart with dependencies gets its subcharts'
/// values under their names, and below all that what it imports. The user's values have no influence on what is imported.
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

/// The object that is imported; Helm warns if there is none.
fn table<'a>(values: &'a Map, subchart: &str, import: &Import) -> Option<&'a Map> {
    [subchart]
        .into_iter()
        .chain(import.child.split('.'))
        .try_fold(values, |table, key| table.get(key).and_then(Value::as_map))
}

/// An object with this one at a path.
fn below(path: &str, table: Map) -> Map {
    if path == "." {
        return table;
    }
    path.rsplit('.').fold(table, |inner, key| Map::from([(key.to_owned(), Value::Map(inner))]))
}
