//! A chart in memory.

use std::sync::Arc;

use tiphys_helm_values::Map;

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
    /// `Chart.yaml`, with the dependencies of `requirements.yaml`.
    pub metadata: Metadata,
    /// `values.yaml`.
    pub values: Map,
    /// `values.schema.json`.
    pub schema: Option<Arc<[u8]>>,
    /// The files below `templates`, in the order of the loader.
    pub templates: Vec<ChartFile>,
    /// The other files: `.Files` of templates, with those of `crds`.
    pub files: Vec<ChartFile>,
    /// The charts in `charts`, sorted by name of their directory or archive. Helm's order is random.
    pub subcharts: Vec<Chart>,
}
