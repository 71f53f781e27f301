//! Arguments of `help`, and what `-h` leaves out.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory as _};

use super::Arguments;

/// The reference to the options that `-h` leaves out.
const SHARED_OPTIONS: &str =
    "All commands have more options (--store, --repo, --plugins, -o, …): tiphys help options";

/// Arguments of `help`.
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

/// Returns the command line for these arguments, the program first. Commands beside the named ones are left out: the parser copies the shared
/// options into every command that it knows, which would take most of the time of a start.
pub(crate) fn command_line_for(arguments: &[OsString]) -> Command {
    with_short_help(narrowed(Arguments::command(), arguments.get(1..).unwrap_or_default()))
}

/// Keeps of the commands below this one only that with the name of the first argument, if there is one, and so on below it.
fn narrowed(command: Command, arguments: &[OsString]) -> Command {
    let Some((first, others)) = arguments.split_first() else { return command };
    let Some(named) = command.find_subcommand(first).cloned() else { return command };
    Command::new(command.get_name().to_owned())
        .disable_help_subcommand(true)
        .args(command.get_arguments().cloned())
        .groups(command.get_groups().cloned())
        .subcommand(narrowed(named, others))
}

/// Returns the command line. `-h` of a command lists its own options; `--help` lists all.
pub(crate) fn command_line() -> Command {
    with_short_help(Arguments::command())
}

/// Hides the shared options in the short help.
fn with_short_help(command: Command) -> Command {
    let hidden = |arg: clap::Arg| if arg.is_global_set() { arg.hide_short_help(true) } else { arg };
    referring_to_options(command.mut_args(hidden))
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
