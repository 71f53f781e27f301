//! Where a value is written: its place in a document, and in the values of a chart and its subcharts.

use serde_json::json;
use tiphys_chart::PlacedChart;
use tiphys_helm_values::PathItem;

use super::GLOBAL;
use super::documents::{Reading, Written};
use super::loaded_chart::{LoadedChart, values_file};

/// One setting of a value, as `explain` prints it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layer {
    pub(super) kind: &'static str,
    pub(super) place: LayerPlace,
    /// `None` if it is unknown.
    pub(super) written: Option<Written>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LayerPlace {
    /// A path in the repository.
    File(String),
    /// A parameter, and the path of the value in it.
    Parameter(String, Vec<PathItem>),
}

impl Layer {
    /// Returns the entry of `explain`.
    pub(super) fn json(&self) -> serde_json::Value {
        let mut entry = json!({ "kind": self.kind });
        match &self.place {
            LayerPlace::File(file) => entry["file"] = json!(file),
            LayerPlace::Parameter(name, path) => {
                entry["parameter"] = json!(name);
                if !path.is_empty() {
                    entry["path"] = path.iter().map(step).collect();
                }
            }
        }
        if let Some(Written { line, text }) = &self.written {
            entry["line"] = json!(line);
            entry["string"] = json!(text);
        }
        entry
    }
}

fn step(item: &PathItem) -> serde_json::Value {
    match item {
        PathItem::Key(key) => json!(key),
        PathItem::Index(index) => json!(index),
    }
}

/// A chart's role for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Top,
    Subchart,
    /// A parent chart imports the value (`import-values`).
    Imported,
}

/// Adds what the values of a chart and its subcharts have at a path, highest precedence first. A null after `removed` items of the path, if
/// these are any, removes the values of the charts that have their keys in it.
pub(super) fn add_defaults(
    loaded: &LoadedChart,
    chart: &PlacedChart<'_>,
    path: &[PathItem],
    removed: usize,
    reading: Reading,
    layers: &mut Vec<Layer>,
) {
    Defaults { loaded, reading, layers }.chart(chart, path, removed, Role::Top);
}

/// Returns the paths at which values of a path are written, highest precedence first: globals of subcharts are announced at the top.
pub(super) fn places(chart: &PlacedChart<'_>, path: &[PathItem]) -> Vec<Vec<PathItem>> {
    let mut all = vec![path.to_vec()];
    if path.first() == Some(&PathItem::Key(GLOBAL.to_owned())) {
        add_globals(chart, path, &mut Vec::new(), &mut all);
    }
    all
}

fn add_globals(
    chart: &PlacedChart<'_>,
    path: &[PathItem],
    parents: &mut Vec<PathItem>,
    all: &mut Vec<Vec<PathItem>>,
) {
    for subchart in &chart.subcharts {
        parents.push(PathItem::Key(subchart.name.to_owned()));
        all.push(parents.iter().chain(path).cloned().collect());
        add_globals(subchart, path, parents, all);
        parents.pop();
    }
}

struct Defaults<'a> {
    loaded: &'a LoadedChart,
    reading: Reading,
    layers: &'a mut Vec<Layer>,
}

impl Defaults<'_> {
    fn chart(&mut self, chart: &PlacedChart<'_>, path: &[PathItem], removed: usize, role: Role) {
        self.without_imports(chart, path, removed, role);
        for dependency in chart.chart.metadata.dependencies.iter().flatten() {
            for import in &dependency.imports {
                let Some(rest) = below_parent(path, &import.parent) else { continue };
                let from = [dependency.known_as()].into_iter().chain(import.child.split('.'));
                let from = from.map(|key| PathItem::Key(key.to_owned())).chain(rest.iter().cloned());
                self.without_imports(chart, &from.collect::<Vec<_>>(), 0, Role::Imported);
            }
        }
    }

    fn without_imports(&mut self, chart: &PlacedChart<'_>, path: &[PathItem], removed: usize, role: Role) {
        let below_name: Vec<&PlacedChart<'_>> = match path {
            [PathItem::Key(key), _, ..] => chart.named(key).collect(),
            _ => Vec::new(),
        };
        let kind = match role {
            Role::Imported => "imported",
            _ if !below_name.is_empty() => "parent-chart",
            Role::Top => "chart-default",
            Role::Subchart => "subchart-default",
        };
        let file = || LayerPlace::File(values_file(chart.chart));
        let text = &chart.chart.values_yaml;
        let layer = |written| Layer { kind, place: file(), written: Some(written) };
        let mut removed = removed;
        if removed == 0
            && let Some(documents) = self.loaded.documents(chart.chart)
        {
            self.layers.extend(documents.written(text, self.reading, path).into_iter().map(layer));
            removed = documents.null_above(text, self.reading, path).unwrap_or_default();
        }
        let role = if role == Role::Imported { role } else { Role::Subchart };
        for subchart in below_name {
            self.chart(subchart, &path[1..], removed.saturating_sub(1), role);
        }
    }
}

/// Returns the rest of a path below the parent of an import; `.` is the top.
fn below_parent<'p>(path: &'p [PathItem], parent: &str) -> Option<&'p [PathItem]> {
    if parent == "." {
        return Some(path);
    }
    let keys: Vec<PathItem> = parent.split('.').map(|key| PathItem::Key(key.to_owned())).collect();
    path.strip_prefix(keys.as_slice())
}

#[cfg(test)]
mod tests;
