//! A user's values over those that a chart and its subcharts bring: what a template sees as `.Values`.
//!
//! Helm calls it coalescing. What the user gave wins; a `null` of theirs deletes the chart's default. A subchart gets what stands under
//! its name, with the parent's `global` merged in. Helm 4.2 changed what becomes of nulls that a chart itself has as defaults.

mod globals;
mod imports;
mod tables;
#[cfg(test)]
mod tests;

use crate::{HelmVersion, Map, Value};
use tables::{Nulls, without_nulls};

/// A chart as far as its values go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Its name; of a subchart with an alias the alias.
    pub name: String,
    /// What its `values.yaml` holds.
    pub values: Map,
    /// The subcharts that are enabled, in Helm's order: those that `Chart.yaml` does not name, then those that it names.
    pub subcharts: Vec<Chart>,
    /// What the enabled dependencies of its `Chart.yaml` export to it (`import-values`), in order. `None` if the file has no list of
    /// dependencies at all, which makes a difference for nulls in defaults.
    pub imports: Option<Vec<Import>>,
}

/// Values that a chart takes over from one of its subcharts, below its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The subchart's name, or its alias.
    pub subchart: String,
    /// Where they are in the subchart's values, keys divided by dots. The short form `NAME` of `Chart.yaml` is `exports.NAME`.
    pub child: String,
    /// Where they go in the chart's values, keys divided by dots; `.` is the top, as in the short form.
    pub parent: String,
}

/// Why values do not fit a chart.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoalesceError {
    /// Under a subchart's name is something else than an object. The text is Helm's.
    #[error("type mismatch on {subchart}: {}", as_boolean(value))]
    NoTable {
        /// The subchart.
        subchart: String,
        /// What the values have there.
        value: Value,
    },
}

/// The values that the chart's templates see. Subcharts' values are in them, under their names.
pub fn coalesce(chart: &Chart, values: Map, version: HelmVersion) -> Result<Map, CoalesceError> {
    let rules = Rules { version, mode: Mode::Coalesce };
    check_dependencies(chart, &values, rules)?;
    coalesce_chart(&imports::with_imports(chart, version)?, values, rules)
}

/// What Helm finds when it asks the values which dependencies are enabled. It hands all of a chart's values on to its subcharts there,
/// so that a value at the top may be in the way of a subchart's subchart.
fn check_dependencies(chart: &Chart, values: &Map, rules: Rules) -> Result<(), CoalesceError> {
    if chart.imports.is_none() {
        return Ok(());
    }
    let values = coalesce_chart(chart, values.clone(), rules)?;
    chart.subcharts.iter().try_for_each(|subchart| check_dependencies(subchart, &values, rules))
}

/// What becomes of nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// They delete defaults, and are gone.
    Coalesce,
    /// They stay, for a later step to act on.
    Merge,
}

#[derive(Clone, Copy, Debug)]
struct Rules {
    version: HelmVersion,
    mode: Mode,
}

fn coalesce_chart(chart: &Chart, mut values: Map, rules: Rules) -> Result<Map, CoalesceError> {
    take_defaults(chart, &mut values, rules);
    for subchart in &chart.subcharts {
        let own = match values.remove(&subchart.name) {
            None => Map::new(),
            Some(Value::Map(own)) => own,
            Some(value) => {
                return Err(CoalesceError::NoTable { subchart: subchart.name.clone(), value });
            }
        };
        let own = globals::hand_down(own, &values, rules.version);
        let own = coalesce_chart(subchart, own, rules)?;
        globals::hand_up(&own, &mut values);
        values.insert(subchart.name.clone(), Value::Map(own));
    }
    Ok(values)
}

/// Puts the chart's own values below those that are there.
fn take_defaults(chart: &Chart, values: &mut Map, rules: Rules) {
    for (key, default) in &chart.values {
        let is_subchart = chart.subcharts.iter().any(|subchart| subchart.name == *key);
        let mode = if is_subchart { Mode::Merge } else { rules.mode };
        match (values.get_mut(key), default) {
            (None, default) => {
                let keeps_nulls = rules.version == HelmVersion::V3 || rules.mode == Mode::Merge;
                let default = if keeps_nulls { Some(default.clone()) } else { without_nulls(default) };
                values.extend(default.map(|default| (key.clone(), default)));
            }
            (Some(Value::Null), _) if rules.mode == Mode::Coalesce => {
                values.remove(key);
            }
            (Some(Value::Map(above)), Value::Map(below)) => {
                tables::put_below(above, below.clone(), Nulls { version: rules.version, mode });
            }
            (Some(_), _) => {}
        }
    }
}

/// A value as Go prints it where it expects a boolean (`%t`).
fn as_boolean(value: &Value) -> String {
    if *value == Value::Null { "%!t(<nil>)".to_owned() } else { item_as_boolean(value) }
}

fn item_as_boolean(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(item_as_boolean).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Map(map) => {
            let entries =
                map.iter().map(|(key, value)| format!("%!t(string={key}):{}", item_as_boolean(value)));
            format!("map[{}]", entries.collect::<Vec<_>>().join(" "))
        }
        Value::Integer(_) | Value::Float(_) | Value::Text(_) => format!("%!t({}={value})", value.go_type()),
    }
}
