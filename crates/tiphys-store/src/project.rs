//! Projects of a store.

use std::collections::BTreeSet;
use std::sync::Arc;

use tiphys_api::AppProject;

use crate::{Place, Store, StoredApplication};

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

impl Store {
    /// One warning for each project that restricts something and that one of the applications is in. A project that the store does
    /// not have is no mistake.
    pub fn project_warnings(&self, applications: &[Arc<StoredApplication>]) -> Vec<String> {
        let names: BTreeSet<&str> =
            applications.iter().map(|stored| stored.application.spec.project_name()).collect();
        names.into_iter().filter_map(|name| self.project(name)).filter_map(StoredProject::warning).collect()
    }
}
