//! Selecting applications of the store.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_project::restricted_fields;
use tiphys_store::{ApplicationRef, Filter, Selection, Selector, Store, StoredApplication, StoredProject};

use crate::error::{Input, Remedy, ServiceError};
use crate::findings;
use crate::options::ApplicationSelection;
use crate::warning::Warning;
use crate::workspace::Workspace;

/// The applications that a use case is about. An invalid or missing application does not hide the others.
#[derive(Debug)]
pub struct SelectedApplications {
    /// In the order of the selection, or of the store.
    pub applications: Vec<Arc<StoredApplication>>,
    /// Applications that could not be selected.
    pub errors: Vec<ServiceError>,
    /// Warnings about the selected applications and their projects.
    pub warnings: Vec<Warning>,
}

/// Selects applications. `action` is a verb that says in the error what nothing was found for.
pub fn select(
    workspace: &Workspace,
    selection: &ApplicationSelection,
    action: &str,
) -> Result<SelectedApplications, ServiceError> {
    let Selection { mut applications, errors } =
        workspace.resources.select(&selection.references(), &selection.filter()?, &workspace.control_plane);
    workspace.trust.allow_file_repositories(&mut applications);
    if applications.is_empty() && errors.is_empty() {
        return Err(nothing_selected(workspace, action));
    }
    let errors = errors.iter().map(ServiceError::selection).collect();
    let warnings = warnings(&workspace.resources, &applications);
    Ok(SelectedApplications { applications, errors, warnings })
}

/// Returns the warnings about applications and their projects.
pub(crate) fn warnings(store: &Store, applications: &[Arc<StoredApplication>]) -> Vec<Warning> {
    let mut warnings = unenforced_projects(store, applications);
    warnings.extend(applications.iter().flat_map(|stored| findings::warnings(stored)));
    warnings.into_iter().map(Warning::from).collect()
}

/// Returns one warning for each project of the applications that has restrictions.
fn unenforced_projects(store: &Store, applications: &[Arc<StoredApplication>]) -> Vec<String> {
    let names: BTreeSet<&str> =
        applications.iter().map(|stored| stored.application.spec.project_name()).collect();
    let projects = names.into_iter().filter_map(|name| store.project(name));
    let warning = |StoredProject { project, place }: &StoredProject| {
        let fields = restricted_fields(project);
        (!fields.is_empty()).then(|| {
            format!(
                "project {} ({place}) restricts {}: this is not enforced yet",
                project.metadata.name,
                fields.join(", ")
            )
        })
    };
    projects.filter_map(warning).collect()
}

impl ApplicationSelection {
    /// Returns the paths among the selected applications.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.references().into_iter().filter_map(ApplicationRef::into_path).collect()
    }

    /// Parses the names and paths.
    pub(crate) fn references(&self) -> Vec<ApplicationRef> {
        self.applications.iter().map(|application| ApplicationRef::parse(application)).collect()
    }

    /// Parses the label selector.
    pub(crate) fn filter(&self) -> Result<Filter, ServiceError> {
        let selector = self.selector.as_deref().map(Selector::parse).transpose();
        let selector = selector
            .map_err(|error| ServiceError::invalid_input(error.to_string()).of_input(Input::Selector))?;
        Ok(Filter { selector: selector.unwrap_or_default(), project: self.project.clone() })
    }
}

/// Returns the error if no application was selected, with the probable reason.
fn nothing_selected(workspace: &Workspace, action: &str) -> ServiceError {
    let error = ServiceError::invalid_input(format!("no application to {action}"));
    if !workspace.resources.applications().is_empty() {
        return error.with_hint("no Application of the store has these labels and this project");
    }
    let is_application = |skipped: &&tiphys_store::Skipped| {
        skipped.object.as_ref().is_some_and(|object| object.kind == "Application")
    };
    let error = match workspace.resources.skipped().iter().find(is_application) {
        Some(skipped) => error.with_hint(format!("{} was left out as {}", skipped.place, skipped.reason)),
        None => error,
    };
    error.with_remedy(Remedy::ChooseStore)
}
