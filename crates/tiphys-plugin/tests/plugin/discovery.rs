//! Only the first discovery rule that is set has an effect.

use tiphys_plugin::{Discovery, LocalPlugin, Match, Plugin, PluginError};
use tiphys_tree::{Entries, RepoPath};

use crate::fixture::{Fixture, request};

const FILES: [&str; 3] = ["app/kustomization.yaml", "app/sub/Chart.yaml", "outside.yaml"];

fn plugin(fixture: &Fixture, discover: &str) -> LocalPlugin {
    fixture.plugin("p", &format!("  generate: {{command: ['true']}}\n{discover}"))
}

/// Returns the answer for files, which must equal the answer for entries if entries suffice.
async fn answer(fixture: &Fixture, discover: &str) -> Result<Match, String> {
    let plugin = plugin(fixture, discover);
    let tree = fixture.tree(&FILES.map(|file| (file, "")));
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
async fn discovery_kind_depends_on_the_rule() {
    let fixture = Fixture::new();
    for (discover, expected) in [
        ("", Discovery::NotConfigured),
        ("  discover: {fileName: x, find: {command: ['true']}}", Discovery::Entries),
        ("  discover: {find: {glob: x, command: ['true']}}", Discovery::Entries),
        ("  discover: {find: {command: ['true']}}", Discovery::Run),
    ] {
        let plugin = plugin(&fixture, discover);
        assert_eq!(plugin.discovery(), expected, "{discover}");
        let refused = plugin.matches_entries(&entries(), &path("app"), &|| false);
        let refused = matches!(refused, Err(PluginError::NeedsFiles { .. }));
        assert_eq!(refused, expected != Discovery::Entries, "{discover}");
    }
}

#[tokio::test]
async fn rule_looks_at_names_of_folder_without_a_path() {
    let fixture = Fixture::new();
    for (discover, expected) in [
        ("", true),
        ("fileName: '*Chart.yaml'", true),
        ("fileName: ./values.yaml", true),
        ("find: {glob: '{a,b}.yaml'}", true),
        ("fileName: sub/Chart.yaml", false),
        ("fileName: ../outside.yaml", false),
        ("find: {glob: '**/Chart.yaml'}", false),
        ("find: {glob: '**.yaml'}", false),
        ("find: {glob: '*[^x]marker'}", false),
        ("find: {glob: '{a,/b}'}", false),
        ("find: {glob: '$HOME'}", false),
        ("find: {command: ['true']}", false),
    ] {
        let plugin = plugin(&fixture, &format!("  discover: {{{discover}}}"));
        assert_eq!(plugin.looks_only_at_folder(), expected, "{discover}");
    }
}

#[tokio::test]
async fn pattern_search_can_be_stopped() {
    let fixture = Fixture::new();
    for discover in ["{fileName: 'sub/*'}", "{find: {glob: '**/none'}}"] {
        let plugin = plugin(&fixture, &format!("  discover: {discover}"));
        let stopped = plugin.matches_entries(&entries(), &path("app"), &|| true);
        assert!(matches!(stopped, Err(PluginError::Cancelled)), "{stopped:?}");
    }
}

#[tokio::test]
async fn linked_application_directory_is_matched_by_entries() {
    let fixture = Fixture::new();
    let plugin = plugin(&fixture, "  discover: {fileName: '../outside.*'}");
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
async fn rules_are_evaluated_in_the_application_directory() {
    let fixture = Fixture::new();
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
        assert_eq!(answer(&fixture, discover).await, Ok(expected), "{discover}");
    }
}

#[tokio::test]
async fn only_the_first_rule_is_evaluated() {
    let fixture = Fixture::new();
    let discover = "  discover: {fileName: nothing, find: {glob: '**/Chart.yaml', command: [echo, x]}}";
    assert_eq!(answer(&fixture, discover).await, Ok(Match::NotSupported));
}

#[tokio::test]
async fn match_outside_the_tree_does_not_count() {
    let fixture = Fixture::new();
    assert_eq!(answer(&fixture, "  discover: {fileName: ../outside.yaml}").await, Ok(Match::Supported));
    assert_eq!(answer(&fixture, "  discover: {fileName: ../../../*}").await, Ok(Match::NotSupported));
}

#[tokio::test]
async fn location_of_the_store_does_not_affect_matches() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&FILES.map(|file| (file, "")));
    assert!(tree.root().to_string_lossy().contains("store [*{"), "{}", tree.root().display());
    for discover in ["fileName: Chart.yaml", "fileName: '*.yaml'", "find: {glob: '**/*.yaml'}"] {
        let plugin = plugin(&fixture, &format!("  discover: {{{discover}}}"));
        let mut request = request(&tree);
        request.app_path = path("app/sub");
        assert_eq!(plugin.matches(&request).await.ok(), Some(Match::Supported), "{discover}");
    }
}

#[tokio::test]
async fn failing_find_command_and_bad_pattern_are_errors() {
    let fixture = Fixture::new();
    let error =
        answer(&fixture, "  discover: {find: {command: [sh, -c, 'echo no >&2; exit 2']}}").await.unwrap_err();
    assert_eq!(error, "discover.find.command: `sh -c \"echo no >&2; exit 2\"` failed exit status 2: no");
    let error = answer(&fixture, "  discover: {find: {glob: none/x.yaml}}").await.unwrap_err();
    assert_eq!(
        error,
        "error finding glob match for pattern \"none/x.yaml\": app/none/x.yaml: file does not exist"
    );
    let error = answer(&fixture, "  discover: {fileName: 'k['}").await.unwrap_err();
    assert_eq!(error, "error finding filename match for pattern \"k[\": syntax error in pattern");
}
