//! Arguments of `help`, and how the arguments of the program are parsed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Args, Command, CommandFactory as _, Subcommand as _};

use super::{Arguments, gone, shared};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys help params set
  tiphys help options                      the settings, and the options of all commands
  tiphys help limits                       the limits, with units and defaults
  tiphys help --man ~/.local/share/man     manual pages of all commands, for `man tiphys-params-set`")]
pub(crate) struct HelpArgs {
    /// The command, `options` or `limits`
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Write the manual pages of all commands into `man1` in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) man: Option<PathBuf>,
}

/// Parses the arguments of the program, its name first. Help and errors are those of [`command_line`].
pub(crate) fn parse(arguments: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let matches = named_command(arguments).and_then(|command| command.try_get_matches_from(arguments).ok());
    matches.map_or_else(|| command_line().try_get_matches_from(arguments).map_err(with_present_form), Ok)
}

/// Returns the definition of only the command that the first argument names. To define all would take most of the time of a start.
fn named_command(arguments: &[OsString]) -> Option<Command> {
    let all = super::Command::augment_subcommands(Command::new("tiphys"));
    let named = all.find_subcommand(arguments.get(1)?)?.clone();
    let program = Command::new("tiphys").disable_help_subcommand(true).subcommand(named);
    Some(shared::BeforeCommand::augment_args(program))
}

/// Returns the definition of all commands.
pub(crate) fn command_line() -> Command {
    let mut program = Arguments::command();
    program.build();
    program
}

/// Replaces the error about an option of an earlier version.
fn with_present_form(error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return error };
    match gone::present_form(option) {
        Some(form) if error.kind() == clap::error::ErrorKind::UnknownArgument => {
            clap::Error::raw(error.kind(), form + "\n")
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests;
