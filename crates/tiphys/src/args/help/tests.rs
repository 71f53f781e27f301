use std::collections::BTreeSet;

use clap::FromArgMatches as _;
use tiphys_service::Setting;

use super::*;

/// Settings that arguments of commands of their own give, too.
const OWN_ARGUMENTS: [&Setting; 3] = [Setting::ANSWERS, Setting::PLUGIN_SOCKETS, Setting::STORE_RENDER];

/// Maximum number of options that a command shares with others.
const SHARED_MAX: usize = 13;

/// Returns the commands without subcommands, with the words that call them.
fn leaves<'a>(command: &'a Command, above: &str) -> Vec<(String, &'a Command)> {
    let line = format!("{above} {}", command.get_name()).trim_start().to_owned();
    let below: Vec<&Command> = command.get_subcommands().filter(|below| below.get_name() != "help").collect();
    if below.is_empty() {
        return vec![(line, command)];
    }
    below.into_iter().flat_map(|below| leaves(below, &line)).collect()
}

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(Into::into).collect()
}

#[test]
fn commands_share_few_options_and_both_helps_are_equal() {
    let program = command_line();
    let leaves = leaves(&program, "");
    assert!(leaves.len() > 30, "{leaves:?}");
    for (line, command) in leaves {
        let is_shared = |arg: &&clap::Arg| arg.get_help_heading() == Some(shared::HEADING);
        let count = command.get_arguments().filter(is_shared).count();
        assert!(count <= SHARED_MAX, "{line} has {count} shared options");
        for arg in command.get_arguments().filter(|arg| !is_shared(arg)) {
            let setting = Setting::named(arg.get_id().as_str());
            assert!(
                setting.is_none_or(|one| OWN_ARGUMENTS.contains(&one)),
                "{line}: {arg} would set {setting:?}"
            );
        }
        let help = |option: &str| match parse(&words(&format!("{line} {option}"))) {
            Ok(_) => panic!("{line} {option} is accepted"),
            Err(error) => error.render().to_string(),
        };
        if command.get_long_about().is_none() {
            assert_eq!(help("-h"), help("--help"), "{line}");
        }
    }
}

#[test]
fn settings_with_an_option_are_those_of_a_workspace() {
    let command = <shared::Workspace as Args>::augment_args(Command::new("workspace"));
    let options: BTreeSet<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
    let of_table: BTreeSet<&str> = Setting::ALL.iter().filter_map(|setting| setting.option).collect();
    let others = BTreeSet::from(["config", "output", "verbose"]);
    assert_eq!(options, &of_table | &others);
}

#[test]
fn arguments_are_parsed_as_by_the_definition_of_all_commands() {
    for line in [
        "tiphys doctor -o json",
        "tiphys render web --limit jobs=2 -o name",
        "tiphys --offline params set web a=b --repo .",
        "tiphys appset plugin serve --no-token -- ./teams.sh prod",
    ] {
        let parsed = |matches: Result<ArgMatches, clap::Error>| {
            let arguments = Arguments::from_arg_matches(&matches.expect(line)).expect(line);
            format!("{arguments:?}")
        };
        let arguments = words(line);
        let whole = command_line().try_get_matches_from(&arguments);
        assert_eq!(parsed(parse(&arguments)), parsed(whole), "{line}");
    }
}

#[test]
fn only_the_named_command_is_defined() {
    let kept = |line: &str| {
        let program = named_command(&words(line))?;
        let kept = program.get_subcommands().map(|command| command.get_name().to_owned());
        Some(kept.collect::<Vec<_>>())
    };
    assert_eq!(kept("tiphys version"), Some(vec!["version".to_owned()]));
    assert_eq!(kept("tiphys params list web"), Some(vec!["params".to_owned()]));
    assert_eq!(kept("tiphys --offline version"), None);
}

#[test]
fn option_that_is_gone_or_not_used_is_an_error() {
    for (line, expected) in [
        ("tiphys render --jobs 2", "error: --jobs is gone; write --limit jobs=VALUE\n"),
        (
            "tiphys render --kube-version=1.33",
            "error: --kube-version is gone; write --config kubeVersion=[NAME=]VERSION\n",
        ),
        ("tiphys jsonpath x --store .", "error: this command does not use --store\n"),
    ] {
        let error = parse(&words(line)).expect_err(line).render().to_string();
        assert_eq!(error, expected);
    }
}
