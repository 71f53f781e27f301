//! `tiphys project check`: the look-ups of applications, and the rules that permit them; patterns of repositories that match none.

use std::process::ExitCode;

use tiphys_engine::LookUpProblem;
use tiphys_service::{
    ApplicationSelection, Setting, Workspace, WorkspaceOptions, unmatched_sources, unusable_checkout,
};

use super::look_ups;
use crate::args::{ProjectCheckArgs, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::settings::Process;

/// Prints each look-up of the selected applications. The exit code reports look-ups that are not permitted.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &ProjectCheckArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = look_ups::Form::of(shared)?;
    let selection = ApplicationSelection::from(&args.applications);
    let workspace =
        Workspace::open_with_sets(&open_service(shared, host)?, WorkspaceOptions::for_selection(&selection))
            .await?;
    error::warn_all(workspace.warnings());
    let selected = tiphys_service::select(&workspace, &selection, "check")?;
    let worst = error::print_all(&selected.errors, None);
    error::warn_all(&selected.warnings);
    error::warn_all(&unmatched_sources(&workspace));
    let finding = tiphys_service::look_ups(&workspace, &selected.applications);
    let found = lifecycle::unless_interrupted(workspace.cancel(), Box::pin(finding)).await?;
    error::warn_all(&unusable_checkout(&workspace));
    let worst = look_ups::print(&found, form, worst)?;
    let mut problems = look_ups::all(&found).filter_map(|(_, _, read)| read.permitted_by.as_ref().err());
    let refused = problems.clone().next().map(|_| ErrorKind::Forbidden);
    if shared.given.get(Setting::CLUSTER_STATE).is_none()
        && problems.any(|one| matches!(one, LookUpProblem::UnknownKind(_)))
    {
        tracing::warn!("kinds that Kubernetes does not have are known only with --cluster-state");
    }
    Ok(error::exit_code_of(worst.max(refused)))
}
