//! Common parts of `appset preview` and `appset diff`.

use tiphys_service::compare::RevisionOptions;
use tiphys_service::preview_change;
use tiphys_service::{
    ControllerSettings, ExistingApplications, Host, PreviewRequest, Previews, Service, ServiceOptions,
    SetInclusion, SetSelection, Workspace, WorkspaceOptions, preview,
};
use tokio_util::sync::CancellationToken;

use crate::args::{AppSetPlanArgs, ControllerArgs, SharedOptions};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::{open_service, service_options};
use crate::project_file::gives_clusters;
use crate::settings::Process;

/// A preview against existing Applications.
pub(super) struct Planned {
    pub(super) workspace: Workspace,
    request: PreviewRequest,
}

/// Opens a workspace for a preview.
pub(super) async fn open(
    shared: &SharedOptions,
    args: &AppSetPlanArgs,
    host: &Process,
) -> Result<Planned, ServiceError> {
    let has_cluster = gives_clusters(shared);
    let request = PreviewRequest {
        generated: args.generated.as_ref().map(|file| super::documents(file, host)).transpose()?,
        existing: if has_cluster { ExistingApplications::Cluster } else { ExistingApplications::Store },
        selection: selection(args, host)?,
        settings: ControllerSettings::from(&args.controller),
    };
    let mut needs = WorkspaceOptions::for_sets(&request.selection);
    needs.reads_clusters = true;
    let workspace = Workspace::open(&open_service(shared, host)?, needs).await?;
    error::warn_all(workspace.warnings());
    Ok(Planned { workspace, request })
}

/// Previews a change of the store since a revision.
pub(super) async fn change(
    shared: &SharedOptions,
    args: &AppSetPlanArgs,
    revision: &RevisionOptions,
    host: &Process,
) -> Result<Previews, ServiceError> {
    let selection = selection(args, host)?;
    let service = open_service_for_sets(shared, &selection, host)?;
    let (settings, cancel) = (ControllerSettings::from(&args.controller), CancellationToken::new());
    let work = Box::pin(preview_change(&service, revision, &selection, &settings, &cancel));
    lifecycle::unless_interrupted(&cancel, work).await?
}

/// Returns the selected sets.
pub(super) fn selection(args: &AppSetPlanArgs, host: &Process) -> Result<SetSelection, ServiceError> {
    let answers = super::answers(args.answers.as_deref(), host)?;
    Ok(SetSelection { sets: args.sets.clone(), answers })
}

/// Opens the service of a comparison, in which all sets take part.
pub(super) fn open_service_for_sets(
    shared: &SharedOptions,
    selection: &SetSelection,
    host: &Process,
) -> Result<Service, ServiceError> {
    let sets = match &selection.answers {
        Some(answers) => SetInclusion::Answered(answers.clone()),
        None => SetInclusion::All,
    };
    Service::open(ServiceOptions { sets, ..service_options(shared, host)? }, Host::clone(host))
}

impl Planned {
    /// Returns what the controller would do.
    pub(super) async fn previews(&self) -> Result<Previews, ServiceError> {
        let work = Box::pin(preview(&self.workspace, &self.request));
        lifecycle::unless_interrupted(self.workspace.cancel(), work).await?
    }
}

impl From<&ControllerArgs> for ControllerSettings {
    fn from(args: &ControllerArgs) -> Self {
        Self {
            policy: args.policy.clone().unwrap_or_default(),
            is_policy_override_enabled: args.policy_override.unwrap_or(args.policy.is_none()),
            preserved_labels: args.preserved_labels.clone(),
            preserved_annotations: args.preserved_annotations.clone(),
            adoptions: args.adopt.iter().cloned().collect(),
            max_deletions_percent: args.max_deletions.into(),
            allowed_deletions: args.allow_deletions.iter().cloned().collect(),
        }
    }
}
