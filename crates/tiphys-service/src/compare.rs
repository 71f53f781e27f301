//! Comparisons of manifests: with live objects, and between two revisions.

mod dropped_values;
mod live;
mod pairs;
mod revisions;

pub use tiphys_kube::cluster_reader::ClusterStateArgument;
pub use tiphys_source::{BasePoint, BaseRevision};

pub use crate::application_diff::{ApplicationDiff, ChangedSetting, Presence};
pub use crate::context::base::{
    HeadReferences, PluginsFrom, Rendering, RevisionOptions, project_file_of_base,
};
pub use crate::context::default_branch::default_base;
pub use live::{LiveClusters, compare_live, unsupported_settings};
pub use revisions::{AffectedApplication, RevisionComparison, RevisionDiff};
