//! Static and dynamic announcements.

use tiphys_plugin::{Plugin, Strictness};

use crate::world::{World, request};

async fn announced(parameters: &str) -> Result<Vec<(String, Option<String>)>, String> {
    announced_in(&World::new(), parameters).await
}

async fn announced_in(world: &World, parameters: &str) -> Result<Vec<(String, Option<String>)>, String> {
    let tree = world.tree(&[("app/x", "")]);
    let plugin =
        world.plugin("p", &format!("  generate: {{command: ['true']}}\n  parameters:\n{parameters}"));
    let announced = plugin.announce(&request(&tree)).await.map_err(|error| tiphys_plugin::chain(&error))?;
    assert_eq!(world.left_behind().await, Vec::<String>::new());
    Ok(announced.into_iter().map(|one| (one.name, one.string)).collect())
}

fn dynamic(output: &str) -> String {
    format!("    dynamic: {{command: [printf, '%s'], args: ['{output}']}}")
}

fn named(entries: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
    entries.iter().map(|(name, string)| ((*name).to_owned(), string.map(str::to_owned))).collect()
}

#[tokio::test]
async fn static_announcements_come_first_and_dynamic_fields_win() {
    let parameters = "    static: [{name: a, string: x}, {name: b}]\n".to_owned()
        + &dynamic(r#"[{"name":"c"},{"name":"a","string":"y"}]"#);
    assert_eq!(announced(&parameters).await, Ok(named(&[("a", Some("y")), ("b", None), ("c", None)])));
}

#[tokio::test]
async fn the_dynamic_command_sees_the_application() {
    let parameters = "    dynamic: {command: [sh, -c, 'printf \"[{\\\"name\\\":\\\"%s\\\"}]\" \"$ARGOCD_APP_NAME-$(ls)\"']}";
    assert_eq!(announced(parameters).await, Ok(named(&[("guestbook-x", None)])));
}

#[tokio::test]
async fn null_is_no_announcement() {
    assert_eq!(announced(&dynamic("null")).await, Ok(vec![]));
}

#[tokio::test]
async fn what_the_proposal_forbids_is_refused_by_name() {
    let cases = [
        (dynamic(r#"[{"title":"no name"}]"#), "name"),
        (dynamic(r#"[{"name":"x","collectionType":"set"}]"#), "collectionType"),
        (dynamic(r#"[{"name":"x","string":5}]"#), "string"),
        (dynamic(r#"[{"name":"x","map":{"k":3}}]"#), "map"),
        (dynamic(r#"{"name":"x"}"#), "list"),
        (dynamic("[null]"), "null"),
        (dynamic(""), "printed nothing"),
        (dynamic("[{"), "not JSON"),
        ("    static: [{title: no name}]".to_owned(), "spec.parameters.static"),
    ];
    for (parameters, expected) in cases {
        let error = announced(&parameters).await.expect_err(&parameters);
        assert!(error.contains(expected), "{parameters}: {error}");
    }
}

#[tokio::test]
async fn a_failing_dynamic_command_is_an_error_with_its_stderr() {
    let error = announced("    dynamic: {command: [sh, -c, 'echo broken >&2; exit 1']}").await.unwrap_err();
    assert_eq!(
        error,
        "parameters.dynamic.command: `sh -c \"echo broken >&2; exit 1\"` failed exit status 1: broken"
    );
}

#[tokio::test]
async fn without_strictness_forbidden_announcements_are_left_out_and_the_others_stay() {
    let world = World::with(Strictness::Log);
    let parameters = "    static: [{title: no name}, {name: a}, {name: b, collectionType: set}]\n".to_owned()
        + &dynamic(r#"[{"title":"no name"},{"name":"c"}]"#);
    assert_eq!(announced_in(&world, &parameters).await, Ok(named(&[("a", None), ("c", None)])));
}
