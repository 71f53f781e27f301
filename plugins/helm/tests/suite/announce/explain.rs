//! Explanations of one parameter and of all.

use serde_json::Value;

use crate::announce::world::{Helm, World};

/// Returns the answer of `explain` for one parameter, or for all.
fn explained(world: &World, parameter: Option<&str>) -> Value {
    let mut command = world.command(Helm::Four, "explain");
    command.envs(parameter.map(|name| ("TIPHYS_PARAMETER", name)));
    let answer = world.answer(command);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    serde_json::from_str(&answer.stdout).expect("JSON")
}

#[test]
fn explanation_of_all_values_has_that_of_each() {
    let world = World::with_values("a: 1\nb: {c: x}\nlist: [y]\nempty: {}\nglobal: {g: 1}\n")
        .chart_file("charts/s/Chart.yaml", "apiVersion: v2\nname: s\nversion: 0.1.0\n")
        .chart_file("charts/s/values.yaml", "d: 1\nglobal: {h: 2}\n")
        .chart_file("given.yaml", "a: 2\n---\na: 3\n")
        .array("value-files", &["given.yaml"])
        .text("values", "b: {c: z}\n")
        .text("set.s.d", "5")
        .text("set-string.unlisted", "6");
    let all = explained(&world, None);
    let all = all.as_object().expect("an object");
    let announced = world.announced_values().into_iter().map(|one| one.name);
    let mut expected: Vec<String> = announced.chain(["set-string.unlisted".to_owned()]).collect();
    expected.extend(["value.list", "value.empty"].map(str::to_owned));
    expected.sort();
    assert_eq!(all.keys().cloned().collect::<Vec<_>>(), expected);
    for (name, layers) in all {
        assert_eq!(explained(&world, Some(name)), *layers, "{name}");
    }
    let lines: Vec<_> =
        all["set.a"].as_array().expect("a list").iter().map(|layer| layer["line"].clone()).collect();
    assert_eq!(lines, [3, 1, 1], "both documents of the file, then the chart");
}
