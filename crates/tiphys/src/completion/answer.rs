//! Candidates at the cursor: the kind of each argument, and the source of its values.

use clap::Arg;
use clap::builder::StyledStr;
use tiphys_model::limits::Limit;
use tiphys_service::Setting;

use super::context::{Context, at_home};
use super::line::{Expected, Line, takes_value};
use super::names;
use super::parameters::{self, ParameterSyntax};
use super::paths::{Files, paths, paths_below};
use super::{Candidate, End};

/// Returns all candidates at the cursor, whether or not they start with the typed word.
pub(super) fn candidates(line: &Line<'_>, context: &Context<'_>) -> Vec<Candidate> {
    let found = match &line.expected {
        Expected::Value { option, before } => {
            let typed = &line.word[before.len()..];
            let values = values(line, context, option, typed);
            values.into_iter().map(|value| value.with_prefix(before)).collect()
        }
        Expected::Option => options(line, OptionScope::All),
        Expected::Subcommand => subcommands(line),
        Expected::Positional(Some(arg)) => values(line, context, arg, &line.word),
        Expected::Positional(None) => Vec::new(),
    };
    // Without other candidates, the command's own options are listed.
    if found.is_empty() && line.word.is_empty() && !matches!(line.expected, Expected::Value { .. }) {
        return options(line, OptionScope::Own);
    }
    found
}

fn subcommands(line: &Line<'_>) -> Vec<Candidate> {
    let visible = line.command.get_subcommands().filter(|command| !command.is_hide_set());
    visible.map(|command| Candidate::word(command.get_name(), first_line(command.get_about()))).collect()
}

/// Which options are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionScope {
    /// Those of the command.
    Own,
    /// Also those of all commands.
    All,
}

/// The options that may follow, the command's own first. Short names only after at most one typed character.
fn options(line: &Line<'_>, scope: OptionScope) -> Vec<Candidate> {
    let may_come = |arg: &&Arg| {
        let repeats =
            matches!(arg.get_action(), clap::ArgAction::Append | clap::ArgAction::Count) || !line.has(arg);
        !arg.is_positional() && !arg.is_hide_set() && repeats
    };
    let (common, own): (Vec<&Arg>, Vec<&Arg>) =
        line.command.get_arguments().filter(may_come).partition(|arg| arg.get_help_heading().is_some());
    let mut found = Vec::new();
    for arg in own.into_iter().chain(common.into_iter().filter(|_| scope == OptionScope::All)) {
        let help = first_line(arg.get_help());
        if let Some(long) = arg.get_long() {
            let needs_equals = takes_value(arg) && arg.is_require_equals_set();
            let end = if needs_equals { End::Open } else { End::Word };
            let value = format!("--{long}{}", if needs_equals { "=" } else { "" });
            found.push(Candidate { value, description: help.clone(), end });
        }
        if matches!(line.word.len(), 1 | 2)
            && !line.word.starts_with("--")
            && let Some(short) = arg.get_short()
        {
            found.push(Candidate::word(format!("-{short}"), help));
        }
    }
    found
}

fn first_line(help: Option<&StyledStr>) -> String {
    help.map(ToString::to_string).and_then(|help| help.lines().next().map(str::to_owned)).unwrap_or_default()
}

/// The values of an argument. `typed` may be a part of the word.
fn values(line: &Line<'_>, context: &Context<'_>, arg: &Arg, typed: &str) -> Vec<Candidate> {
    let listed = arg.get_possible_values();
    if !listed.is_empty() && takes_value(arg) {
        let shown = listed.iter().filter(|value| !value.is_hide_set());
        return shown.map(|value| Candidate::word(value.get_name(), first_line(value.get_help()))).collect();
    }
    let value_name =
        arg.get_value_names().and_then(<[_]>::first).map(clap::builder::Str::as_str).unwrap_or_default();
    let in_params = line.path.first() == Some(&"params") && arg.is_positional();
    match (arg.get_id().as_str(), value_name) {
        ("project", _) => names::projects(context),
        ("selector", _) => names::labels(context, typed),
        ("source_name", _) => names::source_names(context, line),
        ("source_position", _) => names::source_positions(context, line),
        ("config", _) => settings(context, typed),
        ("limits", _) => limits(typed),
        ("unset", _) => parameters::of_application(context, line, typed, ParameterSyntax::Unset),
        ("params", _) => parameters::of_plugin(context, line, typed),
        (_, "APP") => names::applications(context, line, typed),
        (_, name) if in_params && name.starts_with("NAME") => {
            let syntax = match line.path.last() {
                Some(&"unset") => ParameterSyntax::Unset,
                _ if name.contains('=') => ParameterSyntax::Assign,
                _ => ParameterSyntax::Name,
            };
            parameters::of_application(context, line, typed, syntax)
        }
        ("path", _) => in_repository(context, line, typed),
        ("cases", _) => cases(context, line),
        (_, "[URL=]DIR" | "[NAME=]DIR") => match typed.rfind('=') {
            Some(equals) => prefixed(&typed[..=equals], paths(context, &typed[equals + 1..], Files::No)),
            None => paths(context, typed, Files::No),
        },
        // These are directories or document files.
        ("store" | "plugins" | "plugin" | "app" | "values", _) => paths(context, typed, Files::Documents),
        (_, "FILE" | "PATH") => paths(context, typed, Files::All),
        (_, "DIR" | "REPO") => paths(context, typed, Files::No),
        _ => Vec::new(),
    }
}

/// Directories of the repository of `--in`.
fn in_repository(context: &Context<'_>, line: &Line<'_>, typed: &str) -> Vec<Candidate> {
    let Some(repository) = line.values("repository").next() else { return Vec::new() };
    if typed.starts_with(['/', '~']) {
        return Vec::new();
    }
    let base = context.host.absolute(at_home(context.host, repository));
    paths_below(&base, context, typed, Files::No)
}

/// The test cases of a plugin's directory.
fn cases(context: &Context<'_>, line: &Line<'_>) -> Vec<Candidate> {
    let Some(plugin) = line.values("plugin").next() else { return Vec::new() };
    let base = context.host.absolute(at_home(context.host, plugin)).join("testdata");
    let folders = paths_below(&base, context, "", Files::No);
    let given: Vec<&str> = line.values("cases").collect();
    let names = folders.iter().map(|folder| folder.value.trim_end_matches('/'));
    names.filter(|name| !given.contains(name)).map(|name| Candidate::word(name, "")).collect()
}

/// Project files, and settings `KEY=VALUE`.
fn settings(context: &Context<'_>, typed: &str) -> Vec<Candidate> {
    let Some((key, rest)) = typed.split_once('=') else {
        let keys = Setting::ALL.iter().filter(|setting| setting.option.is_none());
        let keys = keys.map(|setting| Candidate::open(format!("{}=", setting.key), setting.summary));
        return paths(context, typed, Files::All).into_iter().chain(keys).collect();
    };
    let words = Setting::named(key).map(Setting::words).unwrap_or_default();
    let found = match key {
        key if key == Setting::LIMITS.key => limits(rest),
        key if key == Setting::ARGOCD_NAMESPACE.key => names::namespaces(context),
        _ if words.is_empty() => paths(context, rest, Files::All),
        _ => words.into_iter().map(|word| Candidate::word(word, "")).collect(),
    };
    prefixed(&typed[..=key.len()], found)
}

/// Limits `NAME=VALUE` with their defaults.
fn limits(typed: &str) -> Vec<Candidate> {
    let named = |limit: &Limit| match limit.default() {
        Some(default) if typed.starts_with(&format!("{}=", limit.name())) => {
            Candidate::word(format!("{}={}", limit.name(), limit.unit().write(default)), limit.help())
        }
        _ => Candidate::open(format!("{}=", limit.name()), limit.help()),
    };
    Limit::ALL.iter().map(named).collect()
}

/// Candidates with a prefix.
pub(super) fn prefixed(before: &str, candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.into_iter().map(|candidate| candidate.with_prefix(before)).collect()
}
