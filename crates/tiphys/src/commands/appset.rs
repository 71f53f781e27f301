//! `tiphys appset`: application sets.

mod generate;
mod template;
mod wide;

use std::process::ExitCode;

use std::path::Path;

use tiphys_service::RecordedAnswers;

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
        AppSetCommand::Template(args) => template::run(common, args, host).await,
    }
}

/// Reads the answers of a file.
fn answers(file: Option<&Path>, host: &Process) -> Result<Option<RecordedAnswers>, ServiceError> {
    let Some(file) = file else { return Ok(None) };
    let content = std::fs::read(host.absolute(file))
        .map_err(|error| ServiceError::invalid_input(format!("cannot read {}: {error}", file.display())))?;
    RecordedAnswers::parse(file, &content).map(Some)
}
