//! `tiphys appset`: application sets.

mod check;
mod diff;
mod explain;
mod generate;
mod planned;
mod plugin;
mod preview;
mod template;
mod wide;

pub(crate) use check::{finding_json, finding_line, level};

use std::process::ExitCode;

use std::path::Path;

use serde_json::Value;
use tiphys_service::RecordedAnswers;
use tiphys_yaml::read_documents;

use crate::args::{AppSetArgs, AppSetCommand, SharedOptions};
use crate::error::ServiceError;
use crate::settings::Process;

/// Runs one of the subcommands.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &AppSetArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match &args.command {
        AppSetCommand::Generate(args) => generate::run(shared, args, host).await,
        AppSetCommand::Preview(args) => preview::run(shared, args, host).await,
        AppSetCommand::Diff(args) => diff::run(shared, args, host).await,
        AppSetCommand::Check(args) => check::run(shared, args, host).await,
        AppSetCommand::Template(args) => template::run(shared, args, host).await,
        AppSetCommand::Explain(args) => explain::run(shared, args, host).await,
        AppSetCommand::Plugin(args) => plugin::run(shared, args, host).await,
    }
}

/// Reads the answers of a file.
fn answers(file: Option<&Path>, host: &Process) -> Result<Option<RecordedAnswers>, ServiceError> {
    let Some(file) = file else { return Ok(None) };
    let content = std::fs::read(host.absolute(file))
        .map_err(|error| ServiceError::invalid_input(format!("cannot read {}: {error}", file.display())))?;
    RecordedAnswers::parse(file, &content).map(Some)
}

/// Reads Applications from a file: documents, or lists of them.
fn documents(file: &Path, host: &Process) -> Result<Vec<Value>, ServiceError> {
    let invalid = |message: String| ServiceError::invalid_input(format!("{}: {message}", file.display()));
    let content =
        std::fs::read(host.absolute(file)).map_err(|error| invalid(format!("cannot read: {error}")))?;
    let documents = read_documents(&content).map_err(|error| invalid(error.to_string()))?;
    if documents.is_empty() {
        return Err(invalid("has no document; an empty list is written as []".to_owned()));
    }
    let mut applications = Vec::new();
    for document in documents {
        match document.to_value() {
            Value::Null => {}
            Value::Array(items) => applications.extend(items),
            mut list if list["items"].is_array() => {
                applications.extend(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default());
            }
            application => applications.push(application),
        }
    }
    match applications.iter().find(|application| application["kind"] != "Application") {
        Some(other) => Err(invalid(format!("expected Applications, found {}", other["kind"]))),
        None => Ok(applications),
    }
}
