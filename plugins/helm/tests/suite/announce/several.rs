//! One run that answers for several applications.

use serde_json::{Value, json};

use crate::announce::world::{CHART, Helm, World};

/// A chart with a dependency that is missing, which is a warning.
fn chart() -> World {
    World::with_values("a: 1\nb: {}\n")
        .chart_file(
            "Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 0.1.0\ndependencies: [{name: db, version: 1.0.0, condition: db.enabled, repository: https://charts.example.com}]\n",
        )
        .chart_file("values-prod.yaml", "a: 2\n")
}

#[test]
fn each_application_gets_the_answer_that_it_gets_alone() {
    let parameters = [
        json!([]),
        json!([{"name": "set.a", "string": "5"}, {"name": "set.db.enabled", "string": "false"}]),
        json!([{"name": "value-files", "array": ["values-prod.yaml"]}]),
        json!([{"name": "values", "string": "b: {c: $ARGOCD_APP_NAME}"}]),
    ];
    let world = chart();
    let variables = |(index, parameters): (usize, &Value)| {
        json!({
            "ARGOCD_APP_NAME": format!("web-{index}"),
            "ARGOCD_APP_SOURCE_PATH": CHART,
            "ARGOCD_APP_PARAMETERS": parameters.to_string(),
        })
    };
    let requests: Vec<Value> = parameters.iter().enumerate().map(variables).collect();
    let lines = lines(&world, &json!(requests));
    assert_eq!(lines.len(), parameters.len());
    for (line, variables) in lines.iter().zip(&requests) {
        let mut command = world.command(Helm::Four, "announce");
        command.env_remove("ARGOCD_APP_PARAMETERS_FILE");
        for (name, value) in variables.as_object().expect("an object") {
            command.env(name, value.as_str().expect("a string"));
        }
        let alone = world.answer(command);
        let list: Value = serde_json::from_str(&alone.stdout).expect("a list");
        let warnings: Vec<&str> =
            alone.stderr.lines().map(|line| line.strip_prefix("warning: ").unwrap_or(line)).collect();
        assert_eq!(*line, json!({"announcements": list, "warnings": warnings}), "{variables}");
    }
    assert_ne!(lines[0]["announcements"], lines[2]["announcements"], "the value file counts");
    assert_eq!(lines[0]["warnings"].as_array().map(Vec::len), Some(1), "the dependency is missing");
    assert_eq!(lines[1]["warnings"], json!([]), "it is disabled");
}

#[test]
fn a_failure_is_null_and_leaves_the_others() {
    let of = |parameters: &str| json!({"ARGOCD_APP_SOURCE_PATH": CHART, "ARGOCD_APP_PARAMETERS": parameters});
    let requests = json!([
        of(r#"[{"name":"values","string":"- a"}]"#),
        of(r#"[{"name":"no-such-parameter","string":"x"}]"#),
        of("[]"),
    ]);
    let lines = lines(&chart(), &requests);
    assert_eq!((&lines[0], &lines[1]), (&Value::Null, &Value::Null));
    assert!(lines[2]["announcements"].is_array(), "{}", lines[2]);
}

#[test]
fn requests_of_another_form_are_refused() {
    let world = chart();
    let mut command = world.command(Helm::Four, "announce");
    command.env("TIPHYS_REQUESTS", "[1]");
    let answer = world.answer(command);
    let expected = "TIPHYS_REQUESTS must be a list of objects of strings: invalid type: integer `1`, expected a map at line 1 column 2";
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), expected));
}

/// The lines of the run for these requests.
fn lines(world: &World, requests: &Value) -> Vec<Value> {
    let mut command = world.command(Helm::Four, "announce");
    command
        .env_remove("ARGOCD_APP_PARAMETERS_FILE")
        .env_remove("ARGOCD_APP_NAME")
        .env("TIPHYS_REQUESTS", requests.to_string());
    let answer = world.answer(command);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    answer.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}
