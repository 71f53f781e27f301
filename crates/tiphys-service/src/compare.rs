//! Comparisons of manifests: with live objects, and between two revisions.

mod base;
mod live;

use tiphys_engine::diff::{Comparison, ObjectDiff};
use tiphys_store::{SelectError, StoredApplication};

use crate::error::ServiceError;
use crate::warning::Warning;

pub use tiphys_kube::cluster_reader::ClusterStateArgument;

pub use base::{
    AffectedApplication, HeadReferences, PluginsFrom, Rendering, RevisionComparison, RevisionDiff,
    RevisionOptions, preview_change, project_file_of_base,
};
pub use live::{LiveClusters, compare_live, unsupported_settings};

/// The comparison of one application.
#[derive(Debug)]
pub struct ApplicationDiff {
    /// The namespace; empty if its document has none.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Which of the sides have the application.
    pub presence: Presence,
    /// Warnings about its rendering and comparison.
    pub warnings: Vec<Warning>,
    /// Why it could not be read or rendered at the base of a comparison. Then its objects count as added.
    pub base_error: Option<String>,
    /// The differences, or why the application could not be compared.
    pub result: Result<Comparison, ServiceError>,
}

/// Which sides of a comparison have an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// Both, or the comparison is not one of revisions.
    #[default]
    Both,
    /// Only the new side.
    Added,
    /// Only the old side.
    Removed,
}

impl ApplicationDiff {
    pub(crate) fn new(
        stored: &StoredApplication,
        presence: Presence,
        result: Result<Comparison, ServiceError>,
    ) -> Self {
        let metadata = &stored.application.metadata;
        Self {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            presence,
            warnings: Vec::new(),
            base_error: None,
            result,
        }
    }

    /// Returns the entry for the documents of an error of the selection; `None` if it is about an argument.
    pub(crate) fn of_unusable(error: &SelectError, control_plane: &str) -> Option<Self> {
        Some(Self::unusable(base::unusable_key(error, control_plane)?.0, error))
    }

    /// Returns the entry for documents that cannot be used: of the application or other object with this namespace and name, or of a file.
    pub(crate) fn unusable(key: Option<(String, String)>, error: &SelectError) -> Self {
        let (namespace, name) = key.unwrap_or_else(|| {
            let place = match error {
                SelectError::Broken(broken) => Some(&broken.place),
                SelectError::Duplicate { places, .. } => places.first(),
                _ => None,
            };
            (String::new(), place.map_or_else(|| error.to_string(), |place| place.file.to_string()))
        });
        Self {
            namespace,
            name,
            presence: Presence::Both,
            warnings: Vec::new(),
            base_error: None,
            result: Err(ServiceError::selection(error)),
        }
    }

    /// Returns `namespace/name`, or the name alone.
    pub fn full_name(&self) -> String {
        if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }

    /// Returns the objects that differ; none if the application failed.
    pub fn objects(&self) -> &[ObjectDiff] {
        self.result.as_ref().map_or(&[], |comparison| &comparison.objects)
    }

    /// Returns whether the application was compared and differs between the sides.
    pub fn differs(&self) -> bool {
        let may_differ = self.presence != Presence::Both || self.base_error.is_some();
        self.result.is_ok() && (may_differ || !self.objects().is_empty())
    }
}
