//! Arguments of `help`, and what `-h` leaves out.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, CommandFactory as _, Subcommand as _};

use super::{Arguments, CommonArgs};

/// The reference to the options that `-h` leaves out.
const SHARED_OPTIONS: &str =
    "All commands have more options (--store, --repo, --plugins, -o, …): tiphys help options";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys help params set
  tiphys help options                      the options of all commands
  tiphys help --man ~/.local/share/man     manual pages of all commands, for `man tiphys-params-set`")]
pub(crate) struct HelpArgs {
    /// The command, or `options` for the options of all commands
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Write the manual pages of all commands into `man1` in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) man: Option<PathBuf>,
}

/// Parses the arguments of the program, its name first. Help and errors are those of [`command_line`].
pub(crate) fn parse(arguments: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let matches = named_command(arguments).and_then(|command| command.try_get_matches_from(arguments).ok());
    matches.map_or_else(|| command_line().try_get_matches_from(arguments), Ok)
}

/// Returns the definition of only the command that the first argument names. The parser copies the shared options into every command that it
/// knows, which would take most of the time of a start.
fn named_command(arguments: &[OsString]) -> Option<Command> {
    let all = super::Command::augment_subcommands(Command::new("tiphys"));
    let named = all.find_subcommand(arguments.get(1)?)?.clone();
    Some(CommonArgs::augment_args(Command::new("tiphys").disable_help_subcommand(true)).subcommand(named))
}

/// Returns the definition of all commands. `-h` of a command lists its own options; `--help` lists all.
pub(crate) fn command_line() -> Command {
    let hidden = |arg: clap::Arg| if arg.is_global_set() { arg.hide_short_help(true) } else { arg };
    let mut program = Arguments::command().mut_args(hidden);
    program.build();
    referring_to_options(program)
}

/// Adds the reference to the short help of a command and of those below it.
fn referring_to_options(command: Command) -> Command {
    let examples = command.get_after_help().cloned();
    let command = match &examples {
        Some(examples) => {
            command.after_long_help(examples.clone()).after_help(format!("{examples}\n\n{SHARED_OPTIONS}"))
        }
        None => command.after_long_help("").after_help(SHARED_OPTIONS),
    };
    command.mut_subcommands(referring_to_options)
}

#[cfg(test)]
mod tests;
