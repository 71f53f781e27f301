//! Patterns of `sourceRepos` that match no repository.

use tiphys_model::project_rules::unmatched_source_repos;

use crate::context::workspace::Workspace;
use crate::warning::Warning;

/// Returns a warning for each pattern of the store's projects that matches no repository in Argo CD.
pub fn unmatched_sources(workspace: &Workspace) -> Vec<Warning> {
    let of_project = |stored: &tiphys_store::StoredProject| {
        let place = &stored.place;
        let errors = unmatched_source_repos(&stored.project).into_iter();
        errors.map(|error| Warning::new(format!("{place}: {error}"))).collect::<Vec<_>>()
    };
    workspace.resources.projects().iter().flat_map(of_project).collect()
}
