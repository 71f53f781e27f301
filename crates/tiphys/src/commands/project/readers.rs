//! `tiphys project readers`: the applications that read an object.

use std::process::ExitCode;

use tiphys_service::{
    ApplicationLookUps, ApplicationSelection, Workspace, WorkspaceOptions, parse_object_address,
    require_possible, unusable_checkout,
};

use super::look_ups;
use crate::args::{ProjectReadersArgs, SharedOptions};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::settings::Process;

/// Prints the look-ups of one object in all applications of the store.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &ProjectReadersArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = look_ups::Form::of(shared)?;
    let object = parse_object_address(&args.object)?;
    require_possible(&object)?;
    let workspace =
        Workspace::open_with_sets(&open_service(shared, host)?, WorkspaceOptions::default()).await?;
    error::warn_all(workspace.warnings());
    let selected = tiphys_service::select(&workspace, &ApplicationSelection::default(), "search")?;
    let worst = error::print_all(&selected.errors, None);
    error::warn_all(&selected.warnings);
    let finding = tiphys_service::look_ups(&workspace, &selected.applications);
    let found = lifecycle::unless_interrupted(workspace.cancel(), Box::pin(finding)).await?;
    error::warn_all(&unusable_checkout(&workspace));
    let found: Vec<ApplicationLookUps> = found.into_iter().map(|one| one.of_object(&object)).collect();
    Ok(error::exit_code_of(look_ups::print(&found, form, worst)?))
}
