use clap::FromArgMatches as _;

use super::*;

/// Returns the lines that call each command.
fn lines(command: &Command, above: &str) -> Vec<String> {
    let line = format!("{above} {}", command.get_name()).trim_start().to_owned();
    let below: Vec<String> = command.get_subcommands().flat_map(|below| lines(below, &line)).collect();
    [vec![line], below].concat()
}

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(Into::into).collect()
}

#[test]
fn short_help_has_the_options_of_the_command_and_refers_to_those_of_all() {
    let lines = lines(&command_line(), "");
    assert!(lines.len() > 40, "{lines:?}");
    for line in lines {
        let help = |option: &str| match parse(&words(&format!("{line} {option}"))) {
            Ok(_) => panic!("{line} {option} is accepted"),
            Err(error) => error.render().to_string(),
        };
        let (short, long) = (help("-h"), help("--help"));
        assert!(short.contains(SHARED_OPTIONS) && !short.contains("\n      --jobs "), "{line}: {short}");
        assert!(!long.contains(SHARED_OPTIONS) && long.contains("\n      --jobs "), "{line}: {long}");
    }
}

#[test]
fn arguments_are_parsed_as_by_the_definition_of_all_commands() {
    for line in [
        "tiphys doctor -o json",
        "tiphys render web --jobs 2 -o name",
        "tiphys --jobs 2 params set web a=b --repo .",
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
    assert_eq!(kept("tiphys --jobs 1 version"), None);
}
