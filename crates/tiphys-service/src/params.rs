//! Parameters of an application: the announced ones, their values and where these come from, and changes.

mod change;
mod check;
mod defaults;
mod diff;
mod each;
mod edit;
mod explain;
mod filter;
mod find;
mod inspect;
mod origin;
mod owner;
mod resolve;
mod review;
mod row;

use std::sync::Arc;

use tiphys_model::resources::ApplicationSource;
use tiphys_store::{ApplicationRef, Filter, SelectError, StoredApplication};

use crate::context::options::{ServiceOptions, StorePath};
use crate::context::service::Service;
use crate::context::workspace::{Workspace, WorkspaceOptions};
use crate::error::{Remedy, ServiceError};
use crate::findings;
use crate::select::unselectable;
use crate::warning::Warning;

pub use crate::problems::{ParameterProblem, ParameterProblems, ProblemRule};
use change::FROM_STANDARD_INPUT;
pub use change::{EditedValue, ParameterEdit, ParameterRequest};
pub use check::{CheckedParameters, ParameterFinding, check};
pub use diff::{UnsavedChange, compare_unsaved};
pub use edit::{EditOptions, PlannedEdit, PlannedEdits, WriteTo, plan_edits, require_file};
pub use explain::explain;
pub use filter::{ParameterEntry, ParameterFilter, ParameterGroup};
pub use find::{FoundInApplication, FoundParameter, ParameterQuery, find};
pub use inspect::{ApplicationParameters, inspect};
pub use origin::{OriginChain, OriginLink, ParameterLocation, ParameterOrigin};
pub use owner::{ApplicationOwner, OwnerKind};
pub use resolve::{ResolvedReference, UsedValue, resolve};
pub use review::{Review, SavedApplication, review};
pub use row::{Announced, ParameterRow};

/// Which sources of an application a use case is about. Empty: all.
#[derive(Clone, Debug, Default)]
pub struct SourceChoice {
    /// The source's name.
    pub name: Option<String>,
    /// The source's position, from 1.
    pub position: Option<u32>,
}

/// Values of parameters that a change sets.
#[derive(Clone, Debug, Default)]
pub struct ParameterValues {
    /// Assignments: `NAME=VALUE`, `NAME:=JSON`, `NAME[KEY]=VALUE`, `NAME[0]=VALUE`, `NAME+=VALUE`, `NAME=@FILE`.
    pub assignments: Vec<String>,
    /// YAML or JSON files of names and values; `-` is standard input.
    pub files: Vec<String>,
    /// Whether build variables in values of a chart are replaced when manifests are made.
    pub variables: bool,
}

/// Opens a workspace for one application, a name or a path. Live clusters are not contacted.
pub async fn open_workspace(service: &Service, application: &str) -> Result<Workspace, ServiceError> {
    Workspace::open_with_sets(service, workspace_options(application)).await
}

/// Opens a workspace for one application, a name or a path, to read the values of its dynamic parameters.
pub async fn open_reading_workspace(service: &Service, application: &str) -> Result<Workspace, ServiceError> {
    let options = WorkspaceOptions { reads_clusters: true, ..workspace_options(application) };
    Workspace::open_with_sets(service, options).await
}

fn workspace_options(application: &str) -> WorkspaceOptions {
    let applications = ApplicationRef::parse(application).into_path().into_iter().collect();
    WorkspaceOptions { applications, ..WorkspaceOptions::default() }
}

/// Finds one application that its project permits, with the warnings about it and about the settings.
fn find_application(
    workspace: &Workspace,
    name: &str,
) -> Result<(Arc<StoredApplication>, Vec<Warning>), ServiceError> {
    let references = [ApplicationRef::parse(name)];
    let mut selection = workspace.resources.select(&references, &Filter::default(), &workspace.control_plane);
    workspace.origins.allow_file_repositories(&mut selection.applications);
    if let Some(error) = selection.errors.first() {
        let failure = unselectable(workspace, error);
        return Err(match (error, set_names(workspace).as_slice()) {
            (SelectError::Unknown { suggestions, .. }, sets @ [_, ..]) if suggestions.is_empty() => failure
                .with_hint(format!(
                    "the store has ApplicationSets ({}), whose applications have no files",
                    sets.join(", ")
                ))
                .with_remedy(Remedy::PassApplications),
            _ => failure,
        });
    }
    let of_path = &workspace.path_sets;
    if let Some(error) = of_path.errors().next() {
        return Err(error.clone());
    }
    let [stored] = selection.applications.as_slice() else {
        let count = selection.applications.len();
        let error =
            ServiceError::invalid_input(format!("{name} has {count} Applications; select one by name"));
        return Err(match of_path.warnings().next() {
            Some(warning) => error.with_hint(warning.message()).with_remedy(warning.remedy().cloned()),
            None => error,
        });
    };
    let of_document = findings::warnings(stored).into_iter().map(Warning::from);
    let refused = workspace.projects.check_application(stored)?;
    let of_project = workspace.projects.warnings(std::slice::from_ref(stored)).into_iter().chain(refused);
    let of_settings = workspace.warnings().iter().chain(of_path.warnings()).cloned();
    let warnings = of_settings.chain(of_document).chain(of_project).collect();
    Ok((Arc::clone(stored), warnings))
}

fn set_names(workspace: &Workspace) -> Vec<&str> {
    workspace.resources.sets().iter().map(|set| set.metadata.name.as_str()).collect()
}

impl ParameterValues {
    /// Refuses to read standard input twice.
    pub fn require_one_standard_input(&self, options: &ServiceOptions) -> Result<(), ServiceError> {
        let of_store = options.store.iter().filter(|path| **path == StorePath::StandardInput).count();
        let of_files = self.files.iter().filter(|path| *path == "-").count();
        let of_values = self.assignments.iter().filter(|text| text.ends_with(FROM_STANDARD_INPUT)).count();
        if of_store + of_files + of_values > 1 {
            return Err(ServiceError::invalid_input(
                "standard input can be read once, and it is named more than once: by the store, -f or values",
            ));
        }
        Ok(())
    }
}

impl SourceChoice {
    /// Returns whether a source is chosen. Positions count from 1.
    fn includes(&self, position: usize, source: &ApplicationSource) -> bool {
        self.name.as_ref().is_none_or(|name| *name == source.name)
            && self.position.is_none_or(|wanted| wanted as usize == position)
    }

    /// Refuses a choice that no source of the application matches.
    fn check(&self, stored: &StoredApplication) -> Result<(), ServiceError> {
        let sources = stored.application.spec.effective_sources();
        if let Some(name) = &self.name
            && !sources.iter().any(|source| source.name == *name)
        {
            let names: Vec<&str> =
                sources.iter().map(|source| source.name.as_str()).filter(|name| !name.is_empty()).collect();
            let known = if names.is_empty() {
                "its sources have no names".to_owned()
            } else {
                format!("there are {}", names.join(", "))
            };
            return Err(ServiceError::not_found(format!(
                "{} has no source named {name:?}: {known}",
                stored.full_name()
            )));
        }
        if let Some(position) = self.position
            && position as usize > sources.len()
        {
            return Err(ServiceError::not_found(format!(
                "{} has {} sources, and none at position {position}",
                stored.full_name(),
                sources.len()
            )));
        }
        Ok(())
    }
}
