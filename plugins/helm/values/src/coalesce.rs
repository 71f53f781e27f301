//! Merges a user's values over those of a chart and its subcharts, into the `.Values` of templates.
//!
//! Helm calls this coalescing. The user's values win; their `null` deletes the chart's default. A subchart gets the values under its name,
//! with the parent's `global` merged in. Helm 4.2 changed the handling of nulls in a chart's defaults.

mod dependencies;
mod globals;
mod imports;
mod tables;
#[cfg(test)]
mod tests;

use crate::{HelmVersion, Map, Value};
use tables::{Nulls, without_nulls};

/// The values of a chart and its subcharts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The chart's name, or its alias as a subchart.
    pub name: String,
    /// The content of `values.yaml`.
    pub values: Map,
    /// The subcharts in Helm's order: those that `Chart.yaml` does not list (Helm orders them at random), then the listed ones.
    pub subcharts: Vec<Chart>,
    /// The dependencies in `Chart.yaml`; `None` without a list, which affects nulls in defaults.
    pub dependencies: Option<Vec<Dependency>>,
}

/// An entry of the dependencies in `Chart.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependency {
    /// The subchart's name, or its alias.
    pub name: String,
    /// Comma-separated paths of values; the first that is a boolean enables or disables the subchart.
    pub condition: String,
    /// Keys of the values' `tags`, used if no condition applies.
    pub tags: Vec<String>,
    /// Values that the chart imports from the subchart (`import-values`).
    pub imports: Vec<Import>,
}

/// Values that a chart imports from a subchart, below its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Dot-separated path in the subchart's values. The short form `NAME` of `Chart.yaml` is `exports.NAME`.
    pub child: String,
    /// Dot-separated path in the chart's values; `.` is the top, as in the short form.
    pub parent: String,
}

/// Errors of merging values into a chart.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoalesceError {
    /// The values of a subchart are not an object. The message is Helm's.
    #[error("type mismatch on {subchart}: {}", as_boolean(value))]
    NoTable {
        /// The subchart's name.
        subchart: String,
        /// The value found.
        value: Value,
    },
}

/// Returns the values that the chart's templates see, with those of enabled subcharts under their names.
pub fn coalesce(chart: &Chart, values: Map, version: HelmVersion) -> Result<Map, CoalesceError> {
    let chart = imports::with_imports(enabled(chart, &values, version)?, version)?;
    coalesce_chart(&chart, values, Rules { version, mode: Mode::Coalesce })
}

/// Returns the chart without the subcharts, at any depth, that these values disable.
pub fn enabled(chart: &Chart, values: &Map, version: HelmVersion) -> Result<Chart, CoalesceError> {
    dependencies::without_disabled(chart, values, "", Rules { version, mode: Mode::Coalesce })
}

/// Handling of nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// They delete defaults and are removed.
    Coalesce,
    /// They stay, for a later step.
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

/// Adds the chart's own values below existing ones.
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

/// Formats a value as Go does where it expects a boolean (`%t`).
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
