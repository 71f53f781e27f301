//! `tiphys project`: questions about projects.

mod check;
mod look_ups;
mod permits;
mod readers;

use std::process::ExitCode;

use crate::args::{ProjectArgs, ProjectCommand, SharedOptions};
use crate::error::ServiceError;
use crate::settings::Process;

pub(crate) use permits::rule_text;

/// Runs one of the subcommands.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &ProjectArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match &args.command {
        ProjectCommand::Permits(args) => permits::run(shared, args),
        ProjectCommand::Check(args) => check::run(shared, args, host).await,
        ProjectCommand::Readers(args) => readers::run(shared, args, host).await,
    }
}
