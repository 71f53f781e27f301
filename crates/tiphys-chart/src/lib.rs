//! Helm charts without the `helm` program: a chart is loaded from its files, and rendered as a function of files, values and versions.
//!
//! * [`Chart::of_directory`] and [`Chart::of_archive`]: load a chart with its subcharts.
//! * [`render()`]: returns what `helm template` prints.
//! * [`PlacedChart`]: a chart with its subcharts at the paths of their values.
//! * [`dependencies`]: reads the list of dependencies only.

mod cache;
mod chart;
mod data;
mod dependency;
mod error;
mod fields;
mod ignore;
mod load;
mod metadata;
mod output;
mod overlaid;
mod placed;
mod render;
mod sanitize;
mod schema;
mod versions;

pub use cache::TemplateCache;
pub use chart::{Chart, ChartFile};
pub use dependency::{Dependency, DependencyVersion, ListError, dependencies, lock_digests};
pub use error::RenderError;
pub use ignore::IgnoreError;
pub use load::{ArchiveError, LoadError, LoadLimits, is_ignored, pack};
pub use metadata::{Maintainer, Metadata, ValidationError, is_chart_name};
pub use placed::PlacedChart;
pub use render::{KubeVersion, LIMITS, Parts, Release, RunOptions, render};

#[cfg(test)]
mod tests;
#[cfg(test)]
use tests::{as_bytes, assert_as_helm, chain, chart_of, chart_within};
