//! `tiphys params set` and `unset`: change an Application's file or an override file.

use std::process::ExitCode;

use tiphys_model::resources::ResourceReference;
use tiphys_service::params::{self, EditOptions, ParameterRequest, ParameterValues};
use tiphys_service::parse_object_address;

use crate::args::{CommonArgs, EditArgs, ParamsSetArgs, ParamsUnsetArgs, SourceChoice};
use crate::commands::checkouts;
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::settings::Process;

/// Runs `params set`.
pub(super) async fn set(
    common: &CommonArgs,
    args: &ParamsSetArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let values = ParameterValues::from(&args.values);
    values.require_one_standard_input(&common.into())?;
    let request = match &args.from {
        None => ParameterRequest::new(&values, &[], host)?,
        Some(object) => {
            let path = args.path.clone().unwrap_or_default();
            let reference = ResourceReference { path, ..parse_object_address(object)? };
            ParameterRequest::from_cluster(&values, reference)?
        }
    };
    run(common, host, &args.application.app, &args.source, &args.edit, &request).await
}

/// Runs `params unset`.
pub(super) async fn unset(
    common: &CommonArgs,
    args: &ParamsUnsetArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let request = ParameterRequest::unset(&args.names);
    run(common, host, &args.application.app, &args.source, &args.edit, &request).await
}

async fn run(
    common: &CommonArgs,
    host: &Process,
    application: &str,
    source: &SourceChoice,
    args: &EditArgs,
    request: &ParameterRequest,
) -> Result<ExitCode, ServiceError> {
    let workspace = params::open_workspace(&open_service(common, host)?, application).await?;
    let (choice, options) = (source.into(), EditOptions::from(args));
    let planning = Box::pin(params::plan_edit(&workspace, application, &choice, &options, request));
    let planned = lifecycle::unless_interrupted(workspace.cancel(), planning).await??;
    error::warn_all(&planned.warnings);
    checkouts::report(&workspace, std::slice::from_ref(&planned.stored)).await;
    let file = planned.path().map(|path| path.display().to_string());
    let changes = planned.changes.clone();
    if args.dry_run {
        if let Some(patch) = planned.patch(host) {
            output::print(&patch)?;
        }
    } else {
        planned.write()?;
    }
    for change in &changes {
        output::note(&if change.before == change.after {
            format!("{}: already {}", change.target, change.before)
        } else {
            change.to_string()
        });
    }
    match (file, args.dry_run) {
        (None, _) => output::note("nothing to change"),
        (Some(file), false) => output::note(&format!("wrote {file}")),
        (Some(_), true) => {}
    }
    Ok(ExitCode::SUCCESS)
}
