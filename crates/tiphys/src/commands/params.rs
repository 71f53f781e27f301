//! `tiphys params`: the parameters of an application.

mod check;
mod diff;
mod explain;
mod find;
mod get;
mod list;
mod row;
mod set;

use std::process::ExitCode;

use tiphys_service::Workspace;
use tiphys_service::params::{self, ApplicationParameters};

use super::checkouts;
use crate::args::{ParamsArgs, ParamsCommand, SharedOptions, SourceChoice};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::settings::Process;

/// Runs one of the subcommands.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: ParamsArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match args.command {
        ParamsCommand::List(args) => list::run(shared, &args, host).await,
        ParamsCommand::Get(args) => get::run(shared, &args, host).await,
        ParamsCommand::Explain(args) => explain::run(shared, &args, host).await,
        ParamsCommand::Find(args) => find::run(shared, &args, host).await,
        ParamsCommand::Check(args) => check::run(shared, &args, host).await,
        ParamsCommand::Set(args) => set::set(shared, &args, host).await,
        ParamsCommand::Unset(args) => set::unset(shared, &args, host).await,
        ParamsCommand::Diff(args) => diff::run(shared, &args, host).await,
    }
}

/// Finds an application and asks its plugins which parameters they accept.
async fn inspect(
    shared: &SharedOptions,
    host: &Process,
    application: &str,
    source: &SourceChoice,
) -> Result<ApplicationParameters, ServiceError> {
    let workspace = params::open_workspace(&open_service(shared, host)?, application).await?;
    inspect_in(&workspace, application, source).await
}

/// Finds an application of a workspace and asks its plugins which parameters they accept.
async fn inspect_in(
    workspace: &Workspace,
    application: &str,
    source: &SourceChoice,
) -> Result<ApplicationParameters, ServiceError> {
    let choice = source.into();
    let inspecting = Box::pin(params::inspect(workspace, application, &choice));
    let parameters = lifecycle::unless_interrupted(workspace.cancel(), inspecting).await??;
    error::warn_all(&parameters.warnings);
    checkouts::report(workspace, std::slice::from_ref(&parameters.stored)).await;
    Ok(parameters)
}

/// Prints the errors of plugins and returns the exit code.
fn conclude(parameters: &ApplicationParameters) -> ExitCode {
    error::exit_code_of(error::print_all(parameters.failures(), None))
}
