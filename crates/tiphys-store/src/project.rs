//! Projects of a store.

use tiphys_api::AppProject;

use crate::Place;

/// A project and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredProject {
    /// The project.
    pub project: AppProject,
    /// Where its document begins.
    pub place: Place,
}

impl StoredProject {
    /// What to tell people who use a project that restricts something, as long as nothing enforces it.
    pub fn warning(&self) -> Option<String> {
        if self.project.restrictions.is_empty() {
            return None;
        }
        Some(format!(
            "project {} ({}) restricts {}: this is not enforced yet",
            self.project.metadata.name,
            self.place,
            self.project.restrictions.join(", ")
        ))
    }
}
