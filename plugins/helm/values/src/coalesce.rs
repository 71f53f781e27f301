//! A user's values over those that a chart and its subcharts bring: what a template sees as `.Values`.
//!
//! Helm calls it coalescing. What the user gave wins; a `null` of theirs deletes the chart's default. A subchart gets what stands under
//! its name, with the parent's `global` merged in. Helm 4.2 changed what becomes of nulls that a chart itself has as defaults.

mod dependencies;
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
    /// Its subcharts in Helm's order: those that `Chart.yaml` does not list (Helm takes them in random order), then those that it lists.
    pub subcharts: Vec<Chart>,
    /// The list of dependencies of its `Chart.yaml`; `None` if there is no list, which makes a difference for nulls in defaults.
    pub dependencies: Option<Vec<Dependency>>,
}

/// What a `Chart.yaml` says of a subchart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependency {
    /// The subchart's name, or its alias.
    pub name: String,
    /// Names of values, divided by commas; the first that is a boolean says whether the subchart is enabled.
    pub condition: String,
    /// Keys of the values' `tags`, which say so where no condition does.
    pub tags: Vec<String>,
    /// What the chart takes over from the subchart (`import-values`).
    pub imports: Vec<Import>,
}

/// Values that a chart takes over from one of its subcharts, below its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
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

/// The values that the chart's templates see. Those of enabled subcharts are in them, under their names.
pub fn coalesce(chart: &Chart, values: Map, version: HelmVersion) -> Result<Map, CoalesceError> {
    let chart = imports::with_imports(enabled(chart, &values, version)?, version)?;
    coalesce_chart(&chart, values, Rules { version, mode: Mode::Coalesce })
}

/// The chart without the subcharts, at any depth, that these values switch off.
pub fn enabled(chart: &Chart, values: &Map, version: HelmVersion) -> Result<Chart, CoalesceError> {
    dependencies::without_disabled(chart, values, "", Rules { version, mode: Mode::Coalesce })
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
