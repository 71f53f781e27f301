//! `tiphys params diff`: the effect of unsaved values on the manifests. No file is changed.

use std::process::ExitCode;

use tiphys_service::params::{self, ParameterRequest, ParameterValues, UnsavedChange};

use crate::args::{ParamsDiffArgs, SharedOptions};
use crate::commands::checkouts;
use crate::commands::diff::output::{self, SetNotes, Sides};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::{open_service, service_options};
use crate::output::status;
use crate::settings::Process;

/// Renders the application with its saved and its unsaved parameters, and prints the differences.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &ParamsDiffArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = output::form(shared, host)?;
    let values = ParameterValues::from(&args.values);
    values.require_one_standard_input(&service_options(shared, host)?)?;
    let request = ParameterRequest::new(&values, &args.unset, host)?;
    let application = &args.application.app;
    let workspace = params::open_workspace(&open_service(shared, host)?, application).await?;
    let choice = (&args.source).into();
    let planning = UnsavedChange::plan(&workspace, application, &choice, &request, args.allow_unannounced);
    let change = lifecycle::unless_interrupted(workspace.cancel(), Box::pin(planning)).await??;
    error::warn_all(&change.warnings);
    checkouts::report(&workspace, std::slice::from_ref(&change.stored)).await;
    for change in &change.changes {
        status(&change.to_string());
    }
    let comparing = Box::pin(params::compare_unsaved(&workspace, &change));
    let diff = lifecycle::unless_interrupted(workspace.cancel(), comparing).await?;
    let sides = Sides::new("saved", "unsaved").with_sets(SetNotes::of_warnings(&change.warnings));
    output::finish(vec![diff], &sides, &form, &args.shown, None, host).await
}
