//! Exactly one discovery rule counts, the first that is set.

use tiphys_plugin::{Match, Plugin};

use crate::world::{World, request};

async fn answer(world: &World, discover: &str) -> Result<Match, String> {
    let tree =
        world.tree(&[("app/kustomization.yaml", ""), ("app/sub/Chart.yaml", ""), ("outside.yaml", "")]);
    let plugin = world.plugin("p", &format!("  generate: {{command: ['true']}}\n{discover}"));
    plugin.matches(&request(&tree)).await.map_err(|error| tiphys_plugin::chain(&error))
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
async fn a_failing_find_command_and_a_malformed_pattern_are_errors() {
    let world = World::new();
    let error =
        answer(&world, "  discover: {find: {command: [sh, -c, 'echo no >&2; exit 2']}}").await.unwrap_err();
    assert_eq!(error, "discover.find.command: `sh -c \"echo no >&2; exit 2\"` failed exit status 2: no");
    let error = answer(&world, "  discover: {fileName: 'k['}").await.unwrap_err();
    assert_eq!(error, "discovery pattern \"k[\": syntax error in pattern");
}
