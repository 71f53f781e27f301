//! `tiphys params`: what an application's plugin accepts, and what is set.

mod asked;
mod defaults;
mod explain;
mod get;
mod list;
mod origin;
mod problems;
mod row;

use std::process::ExitCode;

use tiphys_store::StoredApplication;

use crate::args::{CommonArgs, ParamsArgs, ParamsCommand, SourceChoice};
use crate::failure::Failure;
use crate::settings::Host;

/// Runs one of the subcommands.
pub(crate) async fn run(common: &CommonArgs, args: ParamsArgs, host: Host) -> Result<ExitCode, Failure> {
    match args.command {
        ParamsCommand::List(args) => list::run(common, &args, &host).await,
        ParamsCommand::Get(args) => get::run(common, &args, &host).await,
        ParamsCommand::Explain(args) => explain::run(common, &args, &host).await,
    }
}

/// Refuses a choice of a source that the application does not have.
fn check_choice(stored: &StoredApplication, choice: &SourceChoice) -> Result<(), Failure> {
    let sources = stored.application.spec.effective_sources();
    if let Some(name) = &choice.source_name
        && !sources.iter().any(|source| source.name == *name)
    {
        let names: Vec<&str> =
            sources.iter().map(|source| source.name.as_str()).filter(|name| !name.is_empty()).collect();
        let known = if names.is_empty() {
            "its sources have no names".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        return Err(Failure::bad_input(format!(
            "{} has no source named {name:?}: {known}",
            stored.full_name()
        )));
    }
    if let Some(position) = choice.source_position
        && position as usize > sources.len()
    {
        return Err(Failure::bad_input(format!(
            "{} has {} sources; --source-position {position} is none",
            stored.full_name(),
            sources.len()
        )));
    }
    Ok(())
}
