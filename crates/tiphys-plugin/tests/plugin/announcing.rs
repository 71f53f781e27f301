//! Static and dynamic announcements.

use tiphys_model::params::EnvVar;
use tiphys_plugin::{Announced, LayerPlace, Plugin, Strictness};

use crate::fixture::{Fixture, config_with, request};

async fn announced(parameters: &str) -> Result<Vec<(String, Option<String>)>, String> {
    announced_in(&Fixture::new(), parameters).await
}

async fn announced_in(fixture: &Fixture, parameters: &str) -> Result<Vec<(String, Option<String>)>, String> {
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin =
        fixture.plugin("p", &format!("  generate: {{command: ['true']}}\n  parameters:\n{parameters}"));
    let announced = plugin.announce(&request(&tree)).await.map_err(|error| tiphys_plugin::chain(&error))?;
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
    Ok(announced.list.into_iter().map(|one| (one.name, one.string)).collect())
}

fn dynamic(output: &str) -> String {
    format!("    dynamic: {{command: [printf, '%s'], args: ['{output}']}}")
}

fn named(entries: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
    entries.iter().map(|(name, string)| ((*name).to_owned(), string.map(str::to_owned))).collect()
}

#[tokio::test]
async fn static_announcements_are_first_and_dynamic_fields_win() {
    let parameters = "    static: [{name: a, string: x}, {name: b}]\n".to_owned()
        + &dynamic(r#"[{"name":"c"},{"name":"a","string":"y"}]"#);
    assert_eq!(announced(&parameters).await, Ok(named(&[("a", Some("y")), ("b", None), ("c", None)])));
}

#[tokio::test]
async fn dynamic_command_sees_the_application() {
    let parameters = "    dynamic: {command: [sh, -c, 'printf \"[{\\\"name\\\":\\\"%s\\\"}]\" \"$ARGOCD_APP_NAME-$(ls)\"']}";
    assert_eq!(announced(parameters).await, Ok(named(&[("guestbook-x", None)])));
}

#[tokio::test]
async fn null_output_is_no_announcement() {
    assert_eq!(announced(&dynamic("null")).await, Ok(vec![]));
}

#[tokio::test]
async fn forbidden_announcements_are_refused_by_name() {
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
async fn failing_dynamic_command_reports_its_stderr() {
    let error = announced("    dynamic: {command: [sh, -c, 'echo broken >&2; exit 1']}").await.unwrap_err();
    assert_eq!(
        error,
        "parameters.dynamic.command: `sh -c \"echo broken >&2; exit 1\"` failed exit status 1: broken"
    );
}

#[tokio::test]
async fn lenient_mode_ignores_forbidden_announcements() {
    let fixture = Fixture::with(Strictness::Log);
    let parameters = "    static: [{title: no name}, {name: a}, {name: b, collectionType: set}]\n".to_owned()
        + &dynamic(r#"[{"title":"no name"},{"name":"c"}]"#);
    assert_eq!(announced_in(&fixture, &parameters).await, Ok(named(&[("a", None), ("c", None)])));
}

#[tokio::test]
async fn warnings_of_a_dynamic_command_are_returned() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let script = "echo '[]'; echo progress >&2; echo 'warning: no chart' >&2";
    let parameters = format!(
        "  generate: {{command: ['true']}}\n  parameters: {{dynamic: {{command: [sh, -c, {script:?}]}}}}"
    );
    let announced = fixture.plugin("p", &parameters).announce(&request(&tree)).await.expect("it announces");
    assert_eq!(announced.warnings, ["no chart"]);
}

#[tokio::test]
async fn explaining_command_gets_the_name_of_the_parameter() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plain = fixture.plugin("p", "  generate: {command: ['true']}");
    assert_eq!(plain.explain(&request(&tree), "a").await.expect("nothing runs"), None);
    let script = r#"printf '[{"kind":"k","file":"%s","string":"%s"}]' "$(ls)" "$TIPHYS_PARAMETER""#;
    let parameters = format!(
        "  generate: {{command: ['true']}}\n  parameters: {{explain: {{command: [sh, -c, {script:?}]}}}}"
    );
    let explained = fixture.plugin("p", &parameters).explain(&request(&tree), "a[0]=b.c").await;
    let explained = explained.expect("it explains").expect("it has the command");
    assert_eq!(explained.layers[0].place, LayerPlace::File { file: "x".to_owned(), line: None });
    assert_eq!(explained.layers[0].value, serde_json::json!({"string": "a[0]=b.c"}));
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn one_run_explains_all_parameters_if_the_plugin_declares_it() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let script =
        r#"test -z "${TIPHYS_PARAMETER+x}" && echo '{"a":[{"kind":"k","file":"f"}]}'; echo 'warning: w' >&2"#;
    let spec = format!(
        "  generate: {{command: ['true']}}\n  parameters: {{explain: {{command: [sh, -c, {script:?}]}}}}"
    );
    let plain = fixture.plugin("p", &spec);
    assert_eq!(plain.explain_all(&request(&tree)).await.expect("nothing runs"), None);
    let plugin = fixture.plugin_in(config_with("tiphys/explanations: all", &spec), None);
    let explained =
        plugin.explain_all(&request(&tree)).await.expect("it explains").expect("it has the command");
    let names: Vec<&str> = explained.layers.keys().map(String::as_str).collect();
    assert_eq!((names, explained.warnings), (vec!["a"], vec!["w".to_owned()]));
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

/// Prints a line for each application: null for the one whose name has no `-`, otherwise its name and parameter as an announcement.
const ANSWERS: &str = r#"
  largeParameters: file
  generate: {command: ['true']}
  parameters:
    static: [{name: fixed}]
    dynamic:
      command: [sh, -c]
      args:
        - |
          test -z "$ARGOCD_APP_NAME" || exit 1
          tr '{' '\n' < "$TIPHYS_REQUESTS_FILE" | sed -n 's/.*"ARGOCD_APP_NAME":"\([a-z]*\)".*/null/p
            s/.*"ARGOCD_APP_NAME":"\([a-z-]*\)".*/{"announcements":[{"name":"\1"}],"warnings":["w"]}/p' | grep .
"#;

#[tokio::test]
async fn one_command_answers_for_several_applications() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin_in(config_with("tiphys/announcements: many", ANSWERS), None);
    assert!(plugin.announces_many() && plugin.shares_announcements());
    let requests = ["web-a", "failing", "web-b"].map(|name| {
        let mut request = request(&tree);
        request.env = vec![EnvVar::new("ARGOCD_APP_NAME", name)];
        request
    });
    let answers = plugin.announce_many(&requests).await.expect("the command succeeds");
    let shown = |announced: Announced| {
        let names: Vec<String> = announced.list.into_iter().map(|one| one.name).collect();
        (names, announced.warnings)
    };
    let of = |name: &str| (vec!["fixed".to_owned(), name.to_owned()], vec!["w".to_owned()]);
    let answers: Vec<_> = answers.into_iter().map(|answer| answer.map(shown)).collect();
    assert_eq!(answers, [Some(of("web-a")), None, Some(of("web-b"))]);
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}
