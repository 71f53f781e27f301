//! The help of every command.

use std::os::unix::fs::symlink;

use crate::world::World;

/// The names below `Commands:`.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let list = list.lines().take_while(|line| line.starts_with("  "));
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
        "appset plugin serve",
        "appset plugin call",
        "config show",
        "config allow",
        "config deny",
        "config schema",
        "cmp-server",
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

#[test]
fn short_help_has_own_options_and_refers_to_the_others() {
    let world = World::empty();
    let short = world.run(&["render", "-h"]).stdout;
    assert!(short.contains("--output-dir") && short.contains("tiphys help options"), "{short}");
    assert!(!short.contains("--store <PATH>") && !short.contains("--tree-bytes-max"), "{short}");
    assert!(short.lines().count() <= 40, "{short}");
    let long = world.run(&["help", "render"]).stdout;
    assert_eq!(long, world.run(&["render", "--help"]).stdout);
    assert!(long.contains("--store <PATH>") && !long.contains("tiphys help options"), "{long}");
    let shared = world.run(&["help", "options"]).stdout;
    assert!(shared.contains("--store <PATH>") && !shared.contains("--output-dir"), "{shared}");
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
fn options_name_their_variables() {
    let help = World::empty().run(&["render", "--help"]).stdout;
    for name in [
        "TIPHYS_STORE",
        "TIPHYS_PLUGINS",
        "TIPHYS_PASS_ENV",
        "TIPHYS_CACHE_DIR",
        "TIPHYS_CLUSTER_STATE",
        "ARGOCD_PLUGINSOCKFILEPATH",
    ] {
        assert!(help.contains(name), "{name}: {help}");
    }
}

#[test]
fn missing_command_prints_help_and_is_a_usage_error() {
    let output = World::empty().run(&[]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""));
    assert!(output.stderr.contains("Usage: tiphys [OPTIONS] <COMMAND>"), "{}", output.stderr);
}
