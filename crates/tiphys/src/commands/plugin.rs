//! `tiphys plugin`: commands for plugin authors.

mod check;
mod create;
mod list;
mod schema;
mod test;
mod try_on;

use std::process::ExitCode;

use crate::args::{PluginArgs, PluginCommand, SharedOptions};
use crate::error::ServiceError;
use crate::settings::Process;

/// Runs one of the subcommands.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: PluginArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match args.command {
        PluginCommand::List(_) => list::run(shared, host).await,
        PluginCommand::Check(args) => check::run(shared, &args, host).await,
        PluginCommand::Create(args) => create::run(&args, host),
        PluginCommand::Test(args) => test::run(shared, &args, host).await,
        PluginCommand::Schema(_) => schema::run(shared),
        PluginCommand::Match(args) => try_on::matches(shared, &args, host).await,
        PluginCommand::Announce(args) => try_on::announce(shared, &args, host).await,
        PluginCommand::Generate(args) => try_on::generate(shared, &args, host).await,
    }
}
