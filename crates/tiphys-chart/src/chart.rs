//! A chart in memory.

use std::sync::Arc;

use tiphys_helm_values::Map;

use crate::Dependency;
use crate::metadata::Metadata;

/// A file of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFile {
    /// The path below the chart's directory, with `/`.
    pub path: String,
    /// The content, without a byte-order mark.
    pub bytes: Arc<[u8]>,
}

/// A chart with its subcharts, before values select some of them.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The path of its directory or archive in the chart that was loaded, which has an empty one.
    pub path: String,
    /// `Chart.yaml`, with the dependencies of `requirements.yaml`.
    pub metadata: Metadata,
    /// `values.yaml`.
    pub values: Map,
    /// The content of `values.yaml`; empty if it does not exist.
    pub values_yaml: Arc<[u8]>,
    /// `values.schema.json`.
    pub schema: Option<Arc<[u8]>>,
    /// The files below `templates`, in the order of the loader.
    pub templates: Vec<ChartFile>,
    /// The other files: `.Files` of templates, with those of `crds`.
    pub files: Vec<ChartFile>,
    /// The charts in `charts`, sorted by name of their directory or archive. Helm's order is random.
    pub subcharts: Vec<Chart>,
}

impl Chart {
    /// Returns the listed dependencies without a chart of their name. Helm compares names only.
    pub fn missing_dependencies(&self) -> impl Iterator<Item = &Dependency> {
        let is_loaded = |name: &str| self.subcharts.iter().any(|subchart| subchart.metadata.name == name);
        self.metadata.dependencies.iter().flatten().filter(move |one| !is_loaded(&one.name))
    }

    /// Puts the paths of the chart and its subcharts below a directory.
    pub fn move_below(&mut self, directory: &str) {
        self.path = joined(directory, &self.path);
        self.subcharts.iter_mut().for_each(|subchart| subchart.move_below(directory));
    }
}

/// Joins two paths, of which one may be empty.
pub(crate) fn joined(directory: &str, path: &str) -> String {
    let separator = if directory.is_empty() || path.is_empty() { "" } else { "/" };
    format!("{directory}{separator}{path}")
}
