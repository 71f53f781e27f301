//! `tiphys params set` and `unset`: change an Application's file or an override file.

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_model::resources::ResourceReference;
use tiphys_service::params::{self, EditOptions, ParameterRequest, PlannedEdit};
use tiphys_service::{ApplicationSelection, Workspace, WorkspaceOptions, parse_object_address};

use crate::args::{EditArgs, ParamsSetArgs, ParamsUnsetArgs, SharedOptions, SourceChoice};
use crate::commands::checkouts;
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::{open_service, service_options};
use crate::output;
use crate::progress::Progress;
use crate::settings::Process;

/// Runs `params set`.
pub(super) async fn set(
    shared: &SharedOptions,
    args: &ParamsSetArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let (selection, values) = args.split();
    values.require_one_standard_input(&service_options(shared, host)?)?;
    let request = match &args.from {
        None => ParameterRequest::new(&values, &[], host)?,
        Some(object) => {
            let path = args.path.clone().unwrap_or_default();
            let reference = ResourceReference { path, ..parse_object_address(object)? };
            ParameterRequest::from_cluster(&values, reference)?
        }
    };
    run(shared, host, &selection, &args.source, &args.edit, &request).await
}

/// Runs `params unset`.
pub(super) async fn unset(
    shared: &SharedOptions,
    args: &ParamsUnsetArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let (selection, names) = args.applications.split(&args.names, |_| 0);
    let request = ParameterRequest::unset(&names)?;
    run(shared, host, &selection, &args.source, &args.edit, &request).await
}

async fn run(
    shared: &SharedOptions,
    host: &Process,
    selection: &ApplicationSelection,
    source: &SourceChoice,
    args: &EditArgs,
    request: &ParameterRequest,
) -> Result<ExitCode, ServiceError> {
    let needs = WorkspaceOptions::for_selection(selection);
    let workspace = Workspace::open_with_sets(&open_service(shared, host)?, needs).await?;
    let (choice, options) = (source.into(), EditOptions::from(args));
    let progress = Progress::uncounted(host, "planned");
    let step = |name: &str| progress.step(name);
    let planning = params::plan_edits(&workspace, selection, &choice, &options, request, &step);
    let mut planned = lifecycle::unless_interrupted(workspace.cancel(), Box::pin(planning)).await??;
    error::warn_all(planned.warnings.iter().chain(planned.edits.iter().flat_map(|edit| &edit.warnings)));
    let applications: Vec<_> = planned.edits.iter().map(|edit| Arc::clone(&edit.stored)).collect();
    checkouts::report(&workspace, &applications).await;
    if !planned.errors.is_empty() {
        let worst = error::print_all(&planned.errors, None);
        output::status("nothing was written");
        return Ok(error::exit_code_of(worst));
    }
    let edits = std::mem::take(&mut planned.edits);
    let mut files = Vec::new();
    let written = if args.dry_run {
        output::print(&planned.patch(host))
    } else {
        planned.write(|path| files.push(format!("wrote {}", path.display())))
    };
    if written.is_ok() {
        report_changes(&edits, selection);
    }
    for file in files {
        output::status(&file);
    }
    written.map(|()| ExitCode::SUCCESS)
}

/// Prints what changes, one line for each parameter.
fn report_changes(edits: &[PlannedEdit], selection: &ApplicationSelection) {
    for PlannedEdit { stored, changes, .. } in edits {
        let application = match selection.one() {
            Some(_) => String::new(),
            None => format!("{}: ", stored.full_name()),
        };
        for change in changes {
            let text = if change.before == change.after {
                format!("{}: already {}", change.target, change.before)
            } else {
                change.to_string()
            };
            output::status(&format!("{application}{text}"));
        }
    }
    if edits.iter().all(PlannedEdit::is_empty) {
        output::status("nothing to change");
    }
}
