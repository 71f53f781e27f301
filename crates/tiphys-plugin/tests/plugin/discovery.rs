//! Exactly one discovery rule counts, the first that is set.

use tiphys_plugin::{Discovery, LocalPlugin, Match, Plugin, PluginError};
use tiphys_tree::{Entries, RepoPath};

use crate::world::{World, request};

const FILES: [&str; 3] = ["app/kustomization.yaml", "app/sub/Chart.yaml", "outside.yaml"];

fn plugin(world: &World, discover: &str) -> LocalPlugin {
    world.plugin("p", &format!("  generate: {{command: ['true']}}\n{discover}"))
}

/// The answer for files, which is the same for their names alone where names are enough.
async fn answer(world: &World, discover: &str) -> Result<Match, String> {
    let plugin = plugin(world, discover);
    let tree = world.tree(&FILES.map(|file| (file, "")));
    let request = request(&tree);
    let answer = plugin.matches(&request).await.map_err(|error| tiphys_plugin::chain(&error));
    if plugin.discovery() == Discovery::Entries {
        let by_names = plugin.matches_entries(&entries(), &request.app_path, &|| false);
        assert_eq!(by_names.map_err(|error| tiphys_plugin::chain(&error)), answer, "{discover}");
    }
    answer
}

fn entries() -> Entries {
    let mut entries = Entries::new(100);
    for file in FILES {
        entries.file(path(file)).expect("no clash");
    }
    entries
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path inside")
}

#[tokio::test]
async fn a_plugin_says_whether_names_are_enough_for_its_rule() {
    let world = World::new();
    for (discover, expected) in [
        ("", Discovery::NotConfigured),
        ("  discover: {fileName: x, find: {command: ['true']}}", Discovery::Entries),
        ("  discover: {find: {glob: x, command: ['true']}}", Discovery::Entries),
        ("  discover: {find: {command: ['true']}}", Discovery::Run),
    ] {
        let plugin = plugin(&world, discover);
        assert_eq!(plugin.discovery(), expected, "{discover}");
        let refused = plugin.matches_entries(&entries(), &path("app"), &|| false);
        let refused = matches!(refused, Err(PluginError::NeedsFiles { .. }));
        assert_eq!(refused, expected != Discovery::Entries, "{discover}");
    }
}

#[tokio::test]
async fn looking_for_a_pattern_ends_when_nobody_waits() {
    let world = World::new();
    for discover in ["{fileName: 'sub/*'}", "{find: {glob: '**/none'}}"] {
        let plugin = plugin(&world, &format!("  discover: {discover}"));
        let stopped = plugin.matches_entries(&entries(), &path("app"), &|| true);
        assert!(matches!(stopped, Err(PluginError::Cancelled)), "{stopped:?}");
    }
}

#[tokio::test]
async fn an_application_folder_behind_a_link_is_found_by_names() {
    let world = World::new();
    let plugin = plugin(&world, "  discover: {fileName: '../outside.*'}");
    let mut entries = entries();
    entries.link(path("deep/er/link"), "../../app").expect("no clash");
    entries.link(path("out"), "../app").expect("no clash");
    let answer = |app: &str| {
        let answer = plugin.matches_entries(&entries, &path(app), &|| false);
        answer.map_err(|error| tiphys_plugin::chain(&error))
    };
    assert_eq!(answer("deep/er/link"), Ok(Match::Supported));
    assert_eq!(answer("deep/er"), Ok(Match::NotSupported));
    assert_eq!(
        answer("out").unwrap_err(),
        "application path out: repository contains out-of-bounds symlinks. file: out"
    );
    assert_eq!(answer("none").unwrap_err(), "application path none: none: app path does not exist");
}

#[tokio::test]
async fn rules_are_evaluated_in_the_applications_folder() {
    let world = World::new();
    let cases = [
        ("", Match::DiscoveryNotConfigured),
        ("  discover: {fileName: ./kustomization.yaml}", Match::Supported),
        ("  discover: {fileName: '*.yml'}", Match::NotSupported),
        ("  discover: {fileName: 'sub/Chart.*'}", Match::Supported),
        ("  discover: {find: {glob: '**/Chart.yaml'}}", Match::Supported),
        ("  discover: {find: {glob: '*/nothing'}}", Match::NotSupported),
        ("  discover: {find: {glob: './sub/Chart.yaml'}}", Match::Supported),
        ("  discover: {find: {glob: '$SECRET_OF_THE_HOST/Chart*'}}", Match::NotSupported),
        ("  discover: {find: {glob: '$LC_FOLDER/Chart.*'}}", Match::Supported),
        ("  discover: {find: {command: [sh, -c, 'ls kustomization.yaml']}}", Match::Supported),
        ("  discover: {find: {command: [sh, -c], args: ['echo']}}", Match::NotSupported),
        ("  discover: {find: {command: [printf, '\\n\\n']}}", Match::Supported),
        ("  discover: {find: {command: ['true']}}", Match::NotSupported),
    ];
    for (discover, expected) in cases {
        assert_eq!(answer(&world, discover).await, Ok(expected), "{discover}");
    }
}

#[tokio::test]
async fn the_first_rule_that_is_set_decides_alone() {
    let world = World::new();
    let discover = "  discover: {fileName: nothing, find: {glob: '**/Chart.yaml', command: [echo, x]}}";
    assert_eq!(answer(&world, discover).await, Ok(Match::NotSupported));
}

#[tokio::test]
async fn a_hit_outside_the_tree_does_not_count() {
    let world = World::new();
    assert_eq!(answer(&world, "  discover: {fileName: ../outside.yaml}").await, Ok(Match::Supported));
    assert_eq!(answer(&world, "  discover: {fileName: ../../../*}").await, Ok(Match::NotSupported));
}

#[tokio::test]
async fn where_the_store_is_has_no_say_in_what_matches() {
    let world = World::new();
    let tree = world.tree(&FILES.map(|file| (file, "")));
    assert!(tree.root().to_string_lossy().contains("store [*{"), "{}", tree.root().display());
    for discover in ["fileName: Chart.yaml", "fileName: '*.yaml'", "find: {glob: '**/*.yaml'}"] {
        let plugin = plugin(&world, &format!("  discover: {{{discover}}}"));
        let mut request = request(&tree);
        request.app_path = path("app/sub");
        assert_eq!(plugin.matches(&request).await.ok(), Some(Match::Supported), "{discover}");
    }
}

#[tokio::test]
async fn a_failing_find_command_and_a_malformed_pattern_are_errors() {
    let world = World::new();
    let error =
        answer(&world, "  discover: {find: {command: [sh, -c, 'echo no >&2; exit 2']}}").await.unwrap_err();
    assert_eq!(error, "discover.find.command: `sh -c \"echo no >&2; exit 2\"` failed exit status 2: no");
    let error = answer(&world, "  discover: {find: {glob: none/x.yaml}}").await.unwrap_err();
    assert_eq!(
        error,
        "error finding glob match for pattern \"none/x.yaml\": app/none/x.yaml: file does not exist"
    );
    let error = answer(&world, "  discover: {fileName: 'k['}").await.unwrap_err();
    assert_eq!(error, "error finding filename match for pattern \"k[\": syntax error in pattern");
}
