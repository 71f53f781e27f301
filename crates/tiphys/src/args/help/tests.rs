use super::*;

/// Returns the names that lead to each command.
fn paths(command: &Command, above: &[String]) -> Vec<Vec<String>> {
    let mut all = vec![above.to_vec()];
    for below in command.get_subcommands() {
        all.extend(paths(below, &[above, &[below.get_name().to_owned()]].concat()));
    }
    all
}

#[test]
fn a_narrowed_command_line_answers_as_the_whole_one() {
    let commands = paths(&command_line(), &["tiphys".to_owned()]);
    assert!(commands.len() > 40, "{} commands", commands.len());
    let asked = |command: Command, arguments: &[OsString]| {
        let matches = command.try_get_matches_from(arguments);
        matches.map_err(|error| (error.kind(), error.render().to_string())).map(|_| "accepted")
    };
    for path in commands {
        for last in ["--help", "--storr=x", "no-such-command"] {
            let arguments: Vec<OsString> =
                path.iter().map(String::as_str).chain([last]).map(Into::into).collect();
            let (narrowed, whole) =
                (asked(command_line_for(&arguments), &arguments), asked(command_line(), &arguments));
            assert_eq!(narrowed, whole, "{arguments:?}");
        }
    }
}

#[test]
fn only_the_named_commands_are_kept() {
    let kept = |line: &str| {
        let arguments: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let commands = paths(&command_line_for(&arguments), &[]);
        commands.into_iter().skip(1).map(|path| path.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(kept("tiphys version"), ["version"]);
    assert_eq!(kept("tiphys params list web"), ["params", "params list"]);
    assert_eq!(kept("tiphys --jobs 1 version"), kept("tiphys"));
}
