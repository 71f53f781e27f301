//! `tiphys plugin`: commands for plugin authors.

mod check;
mod create;
mod list;
mod schema;
mod test;
mod try_on;

use std::process::ExitCode;

use crate::args::{CommonArgs, PluginArgs, PluginCommand};
use crate::error::ServiceError;
use crate::settings::Process;

/// Runs one of the subcommands.
pub(crate) async fn run(
    common: &CommonArgs,
    args: PluginArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match args.command {
        PluginCommand::List(_) => list::run(common, host).await,
        PluginCommand::Check(args) => check::run(common, &args, host).await,
        PluginCommand::Create(args) => create::run(&args, host),
        PluginCommand::Test(args) => test::run(common, &args, host).await,
        PluginCommand::Schema(_) => schema::run(common),
        PluginCommand::Match(args) => try_on::matches(common, &args, host).await,
        PluginCommand::Announce(args) => try_on::announce(common, &args, host).await,
        PluginCommand::Generate(args) => try_on::generate(common, &args, host).await,
    }
}
