//! `tiphys help`: the help of a command, the settings and options, the limits, manual pages.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::{Command, CommandFactory as _};
use tiphys_model::limits::Limit;
use tiphys_service::Setting;

use crate::args::shared::HEADING;
use crate::args::{Arguments, HelpArgs, command_line};
use crate::error::ServiceError;
use crate::output::{self, Table};
use crate::settings::Process;

/// The names of lists among those of commands.
const OPTIONS: &str = "options";
const LIMITS: &str = "limits";

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
    match args.command.as_slice() {
        [list] if list == OPTIONS => output::print(&options(&command_line()))?,
        [list] if list == LIMITS => output::print(&limits())?,
        names => {
            let mut command = command(names)?;
            let is_long = command.get_long_about().is_some();
            let help = if is_long { command.render_long_help() } else { command.render_help() };
            output::print(&help.to_string())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the command of these names.
fn command(names: &[String]) -> Result<Command, ServiceError> {
    let mut command = command_line();
    for name in names {
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
    Ok(command)
}

/// Lists the settings, and the options of commands with the commands that have them.
fn options(program: &Command) -> String {
    let mut text = String::from(
        "Settings. Each is set by --config KEY=VALUE, by its variable, TIPHYS_ and the key in upper case (TIPHYS_KUBE_VERSION), or in\n\
         the project file .tiphys.yaml; some have an option of their own.\n\n",
    );
    for setting in Setting::ALL {
        text.push_str(&described(setting));
    }
    text.push_str("\nOptions, with the commands that have them:\n\n");
    let mut commands = BTreeMap::new();
    collect(program, "tiphys", &mut commands);
    let mut table = Table::new(&["OPTION", "COMMANDS"]);
    for (option, names) in commands {
        table.row([option, names.join(", ")]);
    }
    text + &table.render()
}

/// Describes a setting: its names, and what it does.
fn described(setting: &Setting) -> String {
    let option = setting.option.map(|option| format!(", --{option}")).unwrap_or_default();
    let value = if setting.is_switch() { "BOOL" } else { setting.value_name };
    let default = Some(setting.default).filter(|default| !default.is_empty());
    let parts = [Some(setting.summary), Some(setting.details).filter(|details| !details.is_empty())];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    let default = default.map(|default| format!(" Default: `{default}`.")).unwrap_or_default();
    let consent = match setting.consent_text().as_str() {
        "" => String::new(),
        "yes" => " Needs consent in the project file.".to_owned(),
        when => format!(" Needs consent in the project file {when}."),
    };
    format!("  {}={value}{option}\n      {}.{default}{consent}\n", setting.key, parts.join(". "))
}

/// The entry of options that several commands share.
const SHARED: &str = "shared";

/// Collects the options of a command and of those below it.
fn collect(command: &Command, above: &str, found: &mut BTreeMap<String, Vec<String>>) {
    for arg in command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()) {
        let Some(long) = arg.get_long() else { continue };
        let commands = found.entry(format!("--{long}")).or_default();
        let is_shared = arg.get_help_heading() == Some(HEADING) || long == "help";
        let name = if is_shared { SHARED } else { above.trim_start() };
        if !commands.iter().any(|command| command == name) {
            commands.push(name.to_owned());
        }
    }
    for below in command.get_subcommands() {
        let above = above.strip_prefix("tiphys").unwrap_or(above);
        collect(below, &format!("{above} {}", below.get_name()), found);
    }
}

/// Lists the limits.
fn limits() -> String {
    let mut table = Table::new(&["LIMIT", "DEFAULT", "DESCRIPTION"]);
    for limit in Limit::ALL {
        let default = limit.default().map_or_else(|| "-".to_owned(), |default| limit.unit().write(default));
        table.row([limit.name().to_owned(), default, limit.help().to_owned()]);
    }
    format!(
        "Each limit is set by --limit NAME=VALUE, by its variable, TIPHYS_ and the name in upper case (TIPHYS_PLUGIN_TIMEOUT), or below\n\
         limits: in the project file. Values have a unit, or are seconds, bytes or numbers: 90s, 2m, 64KiB, 1GiB.\n\n{}",
        table.render()
    )
}
