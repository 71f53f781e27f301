//! Generates docs/reference/commands.md, the pages of groups of commands beside it, and options.md from the definitions of the command line,
//! the settings and the limits.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};
use tiphys_model::limits::Limit;
use tiphys_service::Setting;
use tiphys_testkit::{fixture, workspace_root};

use super::{Arguments, shared};

/// The beginning of the page of commands.
const COMMANDS: &str = "# Commands

<!-- Written by `UPDATE=1 cargo test -p tiphys reference` from the program's own definitions; do not edit. -->

All commands with their options, as in `tiphys COMMAND --help`. An option overrides its variable.
[Commands for parameters](commands-params.md), [commands for application sets](commands-appset.md), [settings, shared options and limits](options.md),
[exit codes](exit-codes.md) and [what commands print](output.md) have pages of their own.
";

/// The groups of commands with pages of their own: the command, the page's file and its title.
const GROUPS: [(&str, &str, &str); 2] = [
    ("params", "commands-params.md", "Commands for parameters"),
    ("appset", "commands-appset.md", "Commands for application sets"),
];

/// The beginning of the page of a group, below its title.
const GROUP_HEAD: &str = "
<!-- Written by `UPDATE=1 cargo test -p tiphys reference` from the program's own definitions; do not edit. -->

They have [shared options](options.md), too.
";

/// The beginning of the page of options.
const OPTIONS: &str = "# Settings, shared options and limits

<!-- Written by `UPDATE=1 cargo test -p tiphys reference` from the program's own definitions; do not edit. -->

A setting has a value from its option, else from `--config KEY=VALUE`, its variable, [the project file](../project-file.md), or the default. The variable is
`TIPHYS_` and the key in upper case: that of `kubeVersion` is `TIPHYS_KUBE_VERSION`. `tiphys config show` prints the values and their origins.

## Shared options

Each command has those that it uses. They may precede or follow the command.
";

/// The beginning of the section of settings.
const SETTINGS_HEAD: &str = "
## Settings

Consent is [the caller's](../project-file.md#consent) to values of the project file.

| key | option | default | consent | description |
| --- | --- | --- | --- | --- |
";

/// The beginning of the section of limits.
const LIMITS_HEAD: &str = "
## Limits

Set by `--limit NAME=VALUE`, below `limits:` in the project file, or by the variable `TIPHYS_` and the name in upper case. A value is a whole number in the
unit of the limit (seconds, bytes, a number), or has a unit: `90s`, `2m`, `64KiB`, `1GiB`. An error that a limit causes ends with its name.

| limit | default | description |
| --- | --- | --- |
";

#[test]
fn pages_of_commands_match_the_program() {
    let mut program = Arguments::command();
    program.build();
    let pages = workspace_root().join("docs/reference");
    let group_of = |command: &Command| {
        let name = command.get_bin_name().unwrap_or_default();
        GROUPS.iter().find(|(group, ..)| name.starts_with(&format!("tiphys {group} ")))
    };
    for group in std::iter::once(None).chain(GROUPS.iter().map(Some)) {
        let (file, mut page) = match group {
            None => ("commands.md", COMMANDS.to_owned()),
            Some((_, file, title)) => (*file, format!("# {title}\n{GROUP_HEAD}")),
        };
        for command in leaves(&program).into_iter().filter(|command| group_of(command) == group) {
            write_command(&mut page, command);
        }
        fixture::compare(&pages.join(file), &page);
    }
}

#[test]
fn page_of_options_matches_the_program() {
    let mut page = OPTIONS.to_owned();
    let mut shared = <shared::Workspace as clap::Args>::augment_args(Command::new("tiphys"));
    shared.build();
    write_options(&mut page, shared.get_arguments());
    page.push_str(SETTINGS_HEAD);
    page.extend(Setting::ALL.iter().copied().map(setting_row));
    page.push_str(LIMITS_HEAD);
    page.extend(Limit::ALL.iter().copied().map(limit_row));
    fixture::compare(&workspace_root().join("docs/reference/options.md"), &page);
}

fn setting_row(setting: &Setting) -> String {
    let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{}`", cell(text)) };
    let option = setting.option.map(|option| format!("--{option}")).unwrap_or_default();
    let parts = [setting.summary, setting.details].into_iter().filter(|part| !part.is_empty());
    let means = escaped(&parts.collect::<Vec<_>>().join(". "));
    let (key, option, default) = (code(setting.key), code(&option), code(setting.default));
    format!("| {key} | {option} | {default} | {} | {means} |\n", setting.consent_text())
}

fn limit_row(limit: Limit) -> String {
    let default = limit.default().map(|default| format!("`{}`", limit.unit().write(default)));
    format!("| `{}` | {} | {} |\n", limit.name(), default.unwrap_or_default(), escaped(limit.help()))
}

/// Returns the commands without subcommands, in the order of the help.
fn leaves(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set());
    let below: Vec<&Command> = below.collect();
    if below.is_empty() {
        return vec![command];
    }
    below.into_iter().flat_map(leaves).collect()
}

fn write_command(page: &mut String, command: &Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    write!(page, "\n## {name}\n\n{}.\n", escaped(&about)).expect("a string can be written to");
    let is_shared = |arg: &&Arg| arg.get_help_heading() == Some(shared::HEADING);
    let own: Vec<&Arg> =
        command.get_arguments().filter(|arg| !is_shared(arg) && arg.get_id() != "help").collect();
    let positional: Vec<&Arg> = own.iter().copied().filter(|arg| arg.is_positional()).collect();
    if !positional.is_empty() {
        page.push_str("\n| argument | description |\n|---|---|\n");
        for arg in positional {
            let place = arg.to_string();
            writeln!(page, "| `{}` | {} |", cell(&place), text_of(arg)).expect("a string can be written to");
        }
    }
    write_options(page, own.into_iter().filter(|arg| !arg.is_positional()));
    if let Some(after) = command.get_after_help() {
        write_help(page, &after.to_string());
    }
}

/// Writes the help after the options: examples and sentences.
fn write_help(page: &mut String, help: &str) {
    let mut fenced = false;
    for line in help.lines() {
        let is_code = line.starts_with(' ');
        if is_code != fenced {
            page.push_str(if is_code { "\n```text\n" } else { "```\n\n" });
            fenced = is_code;
        }
        let line = if is_code { line.trim_start().to_owned() } else { escaped(line) };
        if fenced || !line.is_empty() {
            let break_before = !fenced && (page.ends_with("|\n") || page.ends_with(".\n"));
            page.push_str(if break_before { "\n" } else { "" });
            page.push_str(&line);
            page.push('\n');
        }
    }
    if fenced {
        page.push_str("```\n");
    }
}

fn write_options<'a>(page: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let args: Vec<&Arg> = args.filter(|arg| !arg.is_hide_set() && arg.get_id() != "help").collect();
    if args.is_empty() {
        return;
    }
    let rows: Vec<[String; 4]> = args.into_iter().map(row).collect();
    // Empty columns are omitted.
    let shown: Vec<usize> = (0..4).filter(|&column| rows.iter().any(|row| !row[column].is_empty())).collect();
    page.push('\n');
    let mut line = |cells: &[&str; 4]| {
        let cells: Vec<&str> = shown.iter().map(|&column| cells[column]).collect();
        writeln!(page, "| {} |", cells.join(" | ")).expect("a string can be written to");
    };
    line(&["option", "variable", "default", "description"]);
    line(&["---"; 4]);
    for [option, variable, default, means] in &rows {
        line(&[option, variable, default, means]);
    }
}

/// Returns option, variable, default and description.
fn row(arg: &Arg) -> [String; 4] {
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let long = arg.get_long().map(|long| format!("--{long}")).unwrap_or_default();
    let takes_values = arg.get_action().takes_values();
    let names = arg.get_value_names().filter(|_| takes_values).unwrap_or_default();
    let values: String = match names {
        [name] if arg.is_require_equals_set() => format!("[={name}]"),
        names => names.iter().flat_map(|name| [" ", name.as_str()]).collect(),
    };
    let (means, variable) = variable_in(&text_of(arg));
    let variable = arg.get_env().map_or(variable, |name| format!("`{}`", name.display()));
    let defaults = arg.get_default_values().iter().filter(|_| takes_values);
    let defaults: Vec<String> = defaults.map(|value| format!("`{}`", value.display())).collect();
    [format!("`{}`", cell(&format!("{short}{long}{values}"))), variable, defaults.join(", "), means]
}

/// Splits `[env: …]` off a description. Options whose variable the parser does not read have it.
fn variable_in(text: &str) -> (String, String) {
    let Some((before, rest)) = text.split_once(" [env: ") else { return (text.to_owned(), String::new()) };
    let (variable, after) = rest.split_once(']').expect("the bracket ends");
    (format!("{before}{after}"), variable.to_owned())
}

/// Returns the help of an argument with its possible values.
fn text_of(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && !arg.is_hide_possible_values_set())
        .filter(|_| arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let values = if values.is_empty() { String::new() } else { format!("; one of {}", values.join(", ")) };
    let repeatable = matches!(arg.get_action(), clap::ArgAction::Append) && !arg.is_positional();
    let repeatable = if repeatable { " (repeatable)" } else { "" };
    format!("{}{values}{repeatable}", escaped(&help.replace('\n', " ")))
}

/// Escapes help for Markdown: outside of backticks, HTML tags and the ends of table cells.
fn escaped(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(index, part)| {
        if index % 2 == 0 { cell(&part.replace('<', "&lt;").replace('*', "\\*")) } else { cell(part) }
    });
    parts.collect::<Vec<_>>().join("`")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
