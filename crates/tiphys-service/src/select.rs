//! Selecting applications of the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_store::{
    ApplicationRef, FILE_BYTES_MAX, Filter, SelectError, Selection, Selector, StoredApplication,
};
use tiphys_tree::read_bounded;

use crate::application_diff::{ApplicationDiff, Presence};
use crate::context::options::ApplicationSelection;
use crate::context::sets::SetReports;
use crate::context::workspace::Workspace;
use crate::error::{Input, Remedy, ServiceError};
use crate::findings;
use crate::warning::Warning;

/// The applications that a use case is about. An invalid or missing application does not hide the others.
#[derive(Debug)]
pub struct SelectedApplications {
    /// In the order of the selection, or of the store.
    pub applications: Vec<Arc<StoredApplication>>,
    /// Applications that could not be selected, and errors of sets.
    pub errors: Vec<ServiceError>,
    /// The applications and documents among them, for a comparison: each is not compared.
    pub unusable: Vec<ApplicationDiff>,
    /// Warnings about the selected applications and their projects.
    pub warnings: Vec<Warning>,
    /// Reports about sets, which may generate applications that are not selected. Errors and warnings have them, too.
    pub sets: SetReports,
}

/// Selects applications. `action` is a verb that says in the error what nothing was found for.
pub fn select(
    workspace: &Workspace,
    selection: &ApplicationSelection,
    action: &str,
) -> Result<SelectedApplications, ServiceError> {
    let Selection { mut applications, errors } =
        workspace.resources.select(&selection.references(), &selection.filter()?, &workspace.control_plane);
    workspace.origins.allow_file_repositories(&mut applications);
    let is_about_all = selection.references().is_empty();
    let control_plane = &workspace.control_plane;
    let mut unusable: Vec<ApplicationDiff> =
        errors.iter().filter_map(|error| ApplicationDiff::of_unusable(error, control_plane)).collect();
    let mut errors: Vec<ServiceError> = errors.iter().map(|error| unselectable(workspace, error)).collect();
    let mut warnings = Vec::new();
    // A missing application may be one of a set that failed.
    let is_about_sets = is_about_all || !errors.is_empty();
    let mut sets = if is_about_sets { workspace.sets.reports.clone() } else { SetReports::default() };
    sets.join(workspace.path_sets.clone());
    errors.extend(sets.errors().chain(&workspace.followed.errors).cloned());
    warnings.extend(sets.warnings().chain(&workspace.followed.warnings).cloned());
    if applications.is_empty() && errors.is_empty() {
        let error = nothing_found(workspace, selection, action);
        if warnings.is_empty() {
            return Err(error);
        }
        errors.push(error);
    }
    let mut refusals = Vec::new();
    applications.retain(|stored| match workspace.projects.check_application(stored) {
        Ok(reported) => {
            refusals.extend(reported);
            true
        }
        Err(error) => {
            unusable.push(ApplicationDiff::new(stored, Presence::Both, Err(error.clone())));
            errors.push(error);
            false
        }
    });
    warnings.extend(self::warnings(&applications));
    warnings.extend(workspace.projects.warnings(&applications));
    warnings.extend(refusals);
    Ok(SelectedApplications { applications, errors, unusable, warnings, sets })
}

/// Returns the error if nothing was selected.
pub(crate) fn nothing_found(
    workspace: &Workspace,
    selection: &ApplicationSelection,
    action: &str,
) -> ServiceError {
    if selection.paths().is_empty() {
        nothing_selected(workspace, action)
    } else {
        ServiceError::invalid_input(format!("no application to {action}"))
    }
}

/// Returns the error of an application that cannot be selected. One that is unknown may be that of a chart.
pub(crate) fn unselectable(workspace: &Workspace, error: &SelectError) -> ServiceError {
    let is_unknown =
        matches!(error, SelectError::Unknown { suggestions, left_out: None, .. } if suggestions.is_empty());
    let chart = is_unknown.then(|| chart_of_applications(workspace)).flatten();
    let error = ServiceError::selection(error);
    match chart {
        Some(chart) => with_chart(error, chart),
        None => error,
    }
}

/// Returns the warnings about the documents of applications.
pub(crate) fn warnings(applications: &[Arc<StoredApplication>]) -> Vec<Warning> {
    applications.iter().flat_map(|stored| findings::warnings(stored)).map(Warning::from).collect()
}

impl ApplicationSelection {
    /// Returns the application if exactly one is named.
    pub fn one(&self) -> Option<&str> {
        match (self.applications.as_slice(), &self.selector, &self.project) {
            ([application], None, None) => Some(application),
            _ => None,
        }
    }

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

/// Returns the directory of a chart whose templates of Applications or `ApplicationSets` were left out of the store.
fn chart_of_applications(workspace: &Workspace) -> Option<String> {
    let host = workspace.service.host();
    let files = workspace.resources.skipped().iter().filter_map(|skipped| skipped.place.file.path());
    let mut charts = files.filter_map(|file| {
        let folders = file.ancestors().skip(1).filter(|folder| folder.ends_with("templates"));
        let mut charts = folders.filter_map(Path::parent);
        let chart = charts.find(|chart| host.absolute(chart.join("Chart.yaml")).is_file())?;
        let text = read_bounded(&host.absolute(file), FILE_BYTES_MAX).ok()??;
        let is_one = String::from_utf8_lossy(&text).lines().any(is_kind_of_applications);
        is_one.then(|| chart.display().to_string())
    });
    charts.next()
}

fn with_chart(error: ServiceError, chart: String) -> ServiceError {
    let hint = format!("{chart} is a chart of Applications");
    error.with_hint(hint).with_remedy(Remedy::RenderChart(chart))
}

/// Returns whether a line of a template is `kind: Application` or `kind: ApplicationSet`.
fn is_kind_of_applications(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or_default().trim_start_matches([' ', '-']);
    let kind = line.strip_prefix("kind:").map(|kind| kind.trim().trim_matches(['"', '\'']));
    kind.is_some_and(|kind| ["Application", "ApplicationSet"].contains(&kind))
}

/// Returns the error if no application was selected, with the probable reason.
fn nothing_selected(workspace: &Workspace, action: &str) -> ServiceError {
    let error = ServiceError::invalid_input(format!("no application to {action}"));
    if !workspace.resources.applications().is_empty() {
        return error.with_hint("no Application of the store has these labels and this project");
    }
    if let Some(chart) = chart_of_applications(workspace) {
        return with_chart(error, chart);
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
