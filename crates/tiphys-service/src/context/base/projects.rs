//! The projects of a comparison: those of the base decide, those of the head restrict in addition.

use std::sync::Arc;

use tiphys_render::RenderedApplication;
use tiphys_store::StoredApplication;

use crate::context::clusters::DestinationClusters;
use crate::context::projects::Projects;
use crate::error::ServiceError;
use crate::warning::Warning;

/// The projects of both sides.
pub(crate) struct ComparedProjects {
    /// Those of the base.
    pub(crate) base: Arc<Projects>,
    /// Those of the head.
    pub(crate) head: Arc<Projects>,
    /// Those of the base, and those that only the head has, see [`Projects::at_base`].
    pub(crate) applied: Arc<Projects>,
}

impl ComparedProjects {
    /// Returns the warnings about the projects of applications of the head.
    pub(crate) fn warnings(&self, head: &[Arc<StoredApplication>]) -> Vec<Warning> {
        let mut warnings = self.applied.warnings(head);
        add_new(&mut warnings, self.head.warnings(head));
        warnings
    }

    /// Checks an application of the head before it is rendered. Returns warnings.
    pub(crate) fn check_application(&self, head: &StoredApplication) -> Result<Vec<Warning>, ServiceError> {
        let mut warnings = self.applied.check_application(head)?;
        add_new(&mut warnings, self.head.check_application(head)?);
        warnings.extend(self.head.check_kept(head, &self.base)?);
        Ok(warnings)
    }

    /// Checks the rendered objects of an application of the head. Returns warnings.
    pub(crate) async fn check_rendered(
        &self,
        clusters: &DestinationClusters,
        head: &StoredApplication,
        rendered: &RenderedApplication,
    ) -> Result<Vec<String>, ServiceError> {
        let mut warnings = self.applied.check_rendered(clusters, head, rendered).await?;
        add_new(&mut warnings, self.head.check_rendered(clusters, head, rendered).await?);
        Ok(warnings)
    }

    /// Whether an application must be rendered although its inputs are equal, because its project permits other objects than before.
    pub(crate) fn is_judged_anew(&self, base: &StoredApplication, head: &StoredApplication) -> bool {
        let before = self.base.rules(&base.application);
        match (before, self.head.rules(&head.application)) {
            (Some(before), Some(after)) => !before.permits_equal_objects(after),
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        }
    }
}

/// Adds the items that a list does not have yet.
fn add_new<T: PartialEq>(list: &mut Vec<T>, items: Vec<T>) {
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}
