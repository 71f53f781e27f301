//! The help of every command.

use std::os::unix::fs::symlink;

use crate::world::World;

/// The names below `Commands:`.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let list = list.lines().take_while(|line| line.starts_with("  "));
    // Others continue a description.
    let list = list.filter(|line| !line.starts_with("   "));
    list.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Collects all commands without subcommands, each as its words with its help.
fn leaves(world: &World, words: &[String], found: &mut Vec<(String, String)>) {
    let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
    args.push("--help");
    let output = world.run(&args);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{args:?}");
    let below = subcommands(&output.stdout);
    if below.is_empty() {
        found.push((words.join(" "), output.stdout.clone()));
    }
    for name in &below {
        leaves(world, &[words, std::slice::from_ref(name)].concat(), found);
    }
}

#[test]
fn help_of_every_command_has_an_example_of_its_call() {
    let world = World::empty();
    let mut found = Vec::new();
    leaves(&world, &[], &mut found);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "render",
        "diff",
        "list",
        "affected",
        "check",
        "inputs",
        "plugin create",
        "plugin list",
        "plugin check",
        "plugin match",
        "plugin announce",
        "plugin generate",
        "plugin test",
        "plugin schema",
        "params list",
        "params get",
        "params explain",
        "params find",
        "params check",
        "params set",
        "params unset",
        "params diff",
        "serve",
        "project permits",
        "project check",
        "project readers",
        "appset generate",
        "appset preview",
        "appset diff",
        "appset check",
        "appset template",
        "appset explain",
        "appset plugin serve",
        "appset plugin call",
        "config show",
        "config allow",
        "config deny",
        "config migrate",
        "config schema",
        "cmp-server",
        "appset-controller",
        "jsonpath",
        "crd",
        "cache prune",
        "doctor",
        "init",
        "completion",
        "version",
        "help",
    ];
    assert_eq!(names, expected);
    for (name, help) in &found {
        let example = help.split_once("Example").map_or("", |(_, rest)| rest);
        assert!(example.contains(&format!("tiphys {name}")), "{name}: {help}");
    }
}

/// Lines of the help of a command with many options.
const HELP_LINES_MAX: usize = 60;

/// Options of all commands together.
const OPTIONS_MAX: usize = 131;

#[test]
fn help_is_short_and_lists_name_settings_options_and_limits() {
    let world = World::empty();
    let help = world.run(&["params", "set", "--help"]).stdout;
    assert!(help.lines().count() <= HELP_LINES_MAX, "{help}");
    assert_eq!(world.run(&["help", "params", "set"]).stdout, help);
    for words in ["--store <PATH>", "tiphys help options", "tiphys help limits"] {
        assert!(help.contains(words), "{words}: {help}");
    }
    let options = world.run(&["help", "options"]).stdout;
    let count = options.lines().filter(|line| line.starts_with("--")).count();
    assert!((60..=OPTIONS_MAX).contains(&count), "{count}: {options}");
    for words in ["\n  kubeVersion=[NAME=]VERSION\n", "\n  repo=[URL=]DIR, --repo\n", "\n--output-dir "] {
        assert!(options.contains(words), "{words}: {options}");
    }
    let limits = world.run(&["help", "limits"]).stdout;
    assert!(limits.contains("\nplugin-timeout  ") && limits.contains("TIPHYS_PLUGIN_TIMEOUT"), "{limits}");
    let unknown = world.run(&["help", "parms"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
    assert_eq!(unknown.stderr, "error: there is no command \"parms\"\nhint: did you mean params?\n");
}

#[test]
fn manual_pages_are_written_for_all_commands() {
    let world = World::empty();
    let output = world.run(&["help", "--man", "man"]);
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (0, "", ""));
    for page in ["tiphys", "tiphys-render", "tiphys-params-set", "tiphys-appset-plugin-serve"] {
        let text = world.read(&format!("man/man1/{page}.1"));
        assert!(text.contains(".SH NAME") && text.contains("Example"), "{page}: {text}");
    }
}

#[test]
fn manual_pages_replace_links() {
    let world = World::empty();
    world.write("mine", "mine\n").write("man/man1/other", "");
    symlink("../../mine", world.path("man/man1/tiphys.1")).expect("a link");
    assert_eq!(world.run(&["help", "--man", "man"]).code, 0);
    assert_eq!(world.read("mine"), "mine\n");
    assert!(world.read("man/man1/tiphys.1").contains(".SH NAME"));
}

#[test]
fn missing_command_prints_help_and_is_a_usage_error() {
    let output = World::empty().run(&[]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""));
    assert!(output.stderr.contains("Usage: tiphys <COMMAND>"), "{}", output.stderr);
}
