//! `tiphys config`: the project file.

mod show;

use std::process::ExitCode;

use tiphys_service::{PROJECT_FILE, ProjectFile, migrate_project_file, project_file_schema};

use crate::args::{ConfigArgs, ConfigCommand, OutputFormat, SharedOptions};
use crate::error::ServiceError;
use crate::output;
use crate::settings::Process;

/// Runs one of the subcommands.
pub(crate) fn run(
    shared: &SharedOptions,
    args: &ConfigArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match args.command {
        ConfigCommand::Show(_) => show::run(shared, host),
        ConfigCommand::Allow(_) => {
            for path in existing(shared, host)?.allow(host)? {
                output::status(&format!("allowed: {path}"));
            }
            Ok(ExitCode::SUCCESS)
        }
        ConfigCommand::Deny(_) => {
            let file = existing(shared, host)?;
            let what = if file.deny(host)? { "no longer allowed" } else { "was not allowed" };
            output::status(&format!("{what}: {}", file.shown()));
            Ok(ExitCode::SUCCESS)
        }
        ConfigCommand::Migrate(_) => {
            let migration = migrate_project_file(&shared.project_file, host)?.ok_or_else(no_file)?;
            let renamed = migration.renamed.iter().map(|(old, new)| format!("{old} is now {new}"));
            let renamed = renamed.collect::<Vec<_>>().join(", ");
            let what = if renamed.is_empty() { "nothing to rename".to_owned() } else { renamed };
            output::status(&format!("{}: {what}", migration.shown));
            Ok(ExitCode::SUCCESS)
        }
        ConfigCommand::Schema(_) => match shared.output {
            None | Some(OutputFormat::Json) => {
                output::print(&output::json(&project_file_schema()))?;
                Ok(ExitCode::SUCCESS)
            }
            Some(_) => Err(ServiceError::invalid_input("`config schema` prints JSON, as editors read it")),
        },
    }
}

/// Returns the project file, which must exist.
fn existing(shared: &SharedOptions, host: &Process) -> Result<ProjectFile, ServiceError> {
    ProjectFile::find(&shared.project_file, host)?.ok_or_else(no_file)
}

fn no_file() -> ServiceError {
    ServiceError::invalid_input(format!(
        "no project file: {PROJECT_FILE} is searched from the current folder up to the root of its checkout"
    ))
}
