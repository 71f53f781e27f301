//! A user's values over those that a chart and its subcharts bring: what a template sees as `.Values`.
//!
//! Helm calls it coalescing. What the user gave wins; a `null` of theirs deletes the chart's default. A subchart gets what stands under
//! its name, with the parent's `global` merged in. Helm 4.2 changed what becomes of nulls that a chart itself has as defaults.

mod globals;
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
    /// The subcharts that are enabled, in order.
    pub subcharts: Vec<Chart>,
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
    coalesce_chart(chart, values, rules)
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
        values.insert(subchart.name.clone(), Value::Map(coalesce_chart(subchart, own, rules)?));
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
                let keeps_nulls = rules.version == HelmVersion::V3 || mode == Mode::Merge;
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
    match value {
        Value::Null => "%!t(<nil>)".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(as_boolean).collect();
            format!("[{}]", items.join(" "))
        }
        other => format!("%!t({}={other})", other.go_type()),
    }
}
