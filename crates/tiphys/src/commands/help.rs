//! `tiphys help`: the help of a command, the options of all commands, manual pages.

use std::process::ExitCode;

use clap::{Command, CommandFactory as _};

use crate::args::{Arguments, HelpArgs, command_line};
use crate::error::ServiceError;
use crate::output;
use crate::settings::Process;

/// The name of the options of all commands among those of commands.
const OPTIONS: &str = "options";

/// Prints help, or writes manual pages.
pub(crate) fn run(args: &HelpArgs, host: &Process) -> Result<ExitCode, ServiceError> {
    if let Some(dir) = &args.man {
        let folder = host.absolute(dir).join("man1");
        let failed = |error| ServiceError::rendering(format!("--man: {}: {error}", folder.display()));
        let pages = tempfile::tempdir_in(host.temporary_dir()).map_err(failed)?;
        clap_mangen::generate_to(Arguments::command(), pages.path()).map_err(failed)?;
        for page in std::fs::read_dir(pages.path()).map_err(failed)? {
            let page = page.map_err(failed)?;
            let text = std::fs::read(page.path()).map_err(failed)?;
            output::replace_file("--man", &folder.join(page.file_name()), &text, output::PUBLIC_MODE)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.command == [OPTIONS] {
        output::print(&options().render_long_help().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = command_line();
    for name in &args.command {
        let known: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
        let Some(found) = command.find_subcommand(name) else {
            let similar = tiphys_model::params::suggest(name, known.iter().map(String::as_str));
            let error = ServiceError::invalid_input(format!("there is no command {name:?}"));
            return Err(match similar.first() {
                Some(name) => error.with_hint(format!("did you mean {name}?")),
                None => error,
            });
        };
        command = found.clone();
    }
    output::print(&command.render_long_help().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a command that has just the options of all commands.
fn options() -> Command {
    let program = Arguments::command();
    let shared: Vec<_> = program.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    Command::new("tiphys")
        .about(
            "Options of all commands. They may precede or follow the command. Each command uses some of them",
        )
        .override_usage("tiphys [OPTIONS] <COMMAND>")
        .disable_help_flag(true)
        .args(shared)
}
