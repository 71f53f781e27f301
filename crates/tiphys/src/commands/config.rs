//! `tiphys config`: the project file.

mod show;

use std::process::ExitCode;

use tiphys_service::{PROJECT_FILE, PROJECT_FILE_SCHEMA, ProjectFile};

use crate::args::{CommonArgs, ConfigArgs, ConfigCommand, OutputFormat};
use crate::error::ServiceError;
use crate::output;
use crate::project_file::{self, GivenKeys};
use crate::settings::Process;

/// Runs one of the subcommands.
pub(crate) fn run(
    common: &CommonArgs,
    args: &ConfigArgs,
    given: &GivenKeys,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match args.command {
        ConfigCommand::Show(_) => show::run(common, given, host),
        ConfigCommand::Allow(_) => {
            for path in existing(common, host)?.allow(host)? {
                output::status(&format!("allowed: {path}"));
            }
            Ok(ExitCode::SUCCESS)
        }
        ConfigCommand::Deny(_) => {
            let file = existing(common, host)?;
            let what = if file.deny(host)? { "no longer allowed" } else { "was not allowed" };
            output::status(&format!("{what}: {}", file.shown()));
            Ok(ExitCode::SUCCESS)
        }
        ConfigCommand::Schema(_) => match common.output {
            None | Some(OutputFormat::Json) => {
                output::print(PROJECT_FILE_SCHEMA)?;
                Ok(ExitCode::SUCCESS)
            }
            Some(_) => Err(ServiceError::invalid_input("`config schema` prints JSON, as editors read it")),
        },
    }
}

/// Returns the project file, which must exist.
fn existing(common: &CommonArgs, host: &Process) -> Result<ProjectFile, ServiceError> {
    ProjectFile::find(&project_file::choice(common), host)?.ok_or_else(|| {
        ServiceError::invalid_input(format!(
            "no project file: {PROJECT_FILE} is searched from the current folder up to the root of its checkout"
        ))
    })
}
