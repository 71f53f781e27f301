//! Lists and maps: announced as JSON under the name that sets them as a whole.

use serde_json::{Value, json};
use tiphys_model::params::Announcement;

use crate::announce::round_trip::{SEEN, seen};
use crate::announce::world::{Helm, World};

/// The announcements of lists and maps, each as `name (type) default`.
fn structures(world: &World) -> Vec<String> {
    let line = |one: &Announcement| {
        let word = one.item_type.as_ref().map(|item_type| item_type.word().into_owned()).unwrap_or_default();
        let required = if one.required == Some(true) { " required" } else { "" };
        format!("{} ({word}){required} {}", one.name, one.string.as_deref().unwrap_or("-"))
    };
    world.announced().iter().filter(|one| one.name.starts_with("value.")).map(line).collect()
}

#[test]
fn lists_and_empty_maps_are_announced_as_json() {
    let world = World::with_values(
        "tolerations: []\nnodeSelector: {}\nservice: {annotations: {}, type: ClusterIP}\nports: [{name: a, hosts: [], port: 80}, 1.5]\n\"a.b\": []\n\"\": []\nglobal: {}\n",
    )
    .chart_file("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.1.0\n")
    .chart_file("charts/none/Chart.yaml", "apiVersion: v2\nname: none\nversion: 0.1.0\n")
    .chart_file("charts/sub/values.yaml", "env: []\nglobal: {labels: {}}\n");
    let expected = [
        "value.tolerations (array) []",
        "value.nodeSelector (object) {}",
        "value.service.annotations (object) {}",
        r#"value.ports (array) [{"hosts":[],"name":"a","port":80},1.5]"#,
        r"value.a\.b (array) []",
        "value.global.labels (object) {}",
        "value.sub.env (array) []",
    ];
    let mut found = structures(&world);
    found.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn schema_decides_whether_a_structure_is_required() {
    let schema = json!({
        "required": ["auth", "list"],
        "properties": {
            "auth": {"type": "object", "description": "Who may log in."},
            "list": {"type": ["array", "null"]},
            "map": {"type": "object", "required": ["user"]},
        },
    });
    let world =
        World::with_values("list: []\nmap: {}\n").chart_file("values.schema.json", schema.to_string());
    let expected = ["value.list (array|null) required []", "value.auth (object) required -"];
    assert_eq!(structures(&world), expected);
    let auth = world.announced().into_iter().find(|one| one.name == "value.auth").expect("announced");
    assert_eq!(auth.tooltip.as_deref(), Some("Who may log in."));
    assert_eq!(world.lines(), ["map.user (any) required"]);
}

#[test]
fn structure_is_announced_with_its_value_before_it_was_set() {
    let world = World::with_values("list: [a, b]\nmap: {}\n")
        .text("values", "map: {k: v}\n")
        .text("set.list[1]", "c")
        .text("set.other.deep", "x");
    assert_eq!(structures(&world), [r#"value.list (array) ["a","b"]"#]);
    let emptied = World::with_values("map: {}\n").text("set.map.k", "v");
    assert_eq!(structures(&emptied), ["value.map (object) {}"]);
}

#[test]
fn announced_json_sets_exactly_its_value() {
    let values = "list: [1, 2]\nmap: {}\nnested: {map: {}}\n";
    for helm in Helm::ALL {
        let world = World::with_values(values).chart_file("templates/seen.yaml", SEEN);
        let names: Vec<String> = structures(&world)
            .iter()
            .map(|line| line.split(' ').next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(names, ["value.list", "value.map", "value.nested.map"]);
        let set = [json!([{"a": null, "b": [true]}, "x,y={}"]), json!({"k": "v"}), json!({"n": 12})];
        let world =
            names.iter().zip(&set).fold(world, |world, (name, value)| world.text(name, &value.to_string()));
        let expected: Value = json!({"list": set[0], "map": set[1], "nested": {"map": set[2]}});
        let mut found = seen(&world, helm);
        // Helm 4 removes nulls, also in lists.
        if let Some(item) = found.pointer_mut("/list/0").and_then(Value::as_object_mut) {
            item.entry("a").or_insert(Value::Null);
        }
        found.as_object_mut().expect("an object").remove("global");
        assert_eq!(found, expected, "{helm:?}");
    }
}
