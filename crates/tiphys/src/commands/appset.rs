//! `tiphys appset`: application sets.

mod generate;
mod template;

use std::process::ExitCode;

use crate::args::{AppSetArgs, AppSetCommand, CommonArgs};
use crate::error::ServiceError;
use crate::settings::Process;

/// Runs one of the subcommands.
pub(crate) async fn run(
    common: &CommonArgs,
    args: &AppSetArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match &args.command {
        AppSetCommand::Generate(args) => generate::run(common, args, host).await,
        AppSetCommand::Template(args) => template::run(common, args, host),
    }
}
