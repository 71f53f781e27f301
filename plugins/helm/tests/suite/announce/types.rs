//! Types, choices and descriptions, from the chart's schema, values and comments.

use serde_json::json;

use crate::announce::world::World;

fn with_schema(values: &str, schema: &serde_json::Value) -> World {
    World::with_values(values).chart_file("values.schema.json", schema.to_string())
}

#[test]
fn schema_sets_types_choices_and_required_values() {
    let world = with_schema(
        "port: \"80\"\nlevel: info\nmax: 1\ndebug:\nname: web\n",
        &json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "required": ["port", "host", "auth", "list"],
            "properties": {
                "port": {"$ref": "#/definitions/port"},
                "level": {"enum": ["debug", "info"], "description": "How much is said."},
                "max": {"type": ["integer", "string"]},
                "debug": {"type": ["boolean", "null"]},
                "host": {"type": "string", "description": "Where it listens."},
                "auth": {"type": "object", "required": ["user"], "properties": {"user": {"type": "string"}}},
            },
            "definitions": {"port": {"type": "integer"}},
        }),
    );
    let expected = [
        "port (number) required 80",
        "level info",
        "max (integer|string) 1",
        "debug (boolean|null)",
        "name web",
        "host required",
        "auth.user required",
        "list (any) required",
    ];
    assert_eq!(world.lines(), expected);
    let level = world.value("level");
    assert_eq!(
        (level.choices, level.tooltip.as_deref()),
        (vec!["debug".to_owned(), "info".to_owned()], Some("How much is said."))
    );
    assert_eq!(world.value("host").tooltip.as_deref(), Some("Where it listens."));
}

#[test]
fn comments_are_tooltips_without_a_schema_description() {
    let values = "# from the comment\na: 1\n# not shown\nb: 2\nc: 3\n## @param c by name\n";
    let schema = json!({"properties": {"b": {"description": "from the schema"}}});
    let world = with_schema(values, &schema);
    let tooltips = ["a", "b", "c"].map(|title| world.value(title).tooltip.unwrap_or_default());
    assert_eq!(tooltips, ["from the comment", "from the schema", "by name"]);
}

#[test]
fn items_of_chart_lists_have_a_warning() {
    let world = World::with_values("# words\na: [1]\nb: [1]\n").text("values", "b: [2]\n");
    let tooltip = |title: &str| world.value(title).tooltip.unwrap_or_default();
    assert!(tooltip("a[0]").contains("helm drops the list's other items"), "{}", tooltip("a[0]"));
    // Helm merges single items into a list of a values file.
    assert_eq!(tooltip("b[0]"), "");
}

#[test]
fn hostile_or_invalid_schemas_are_ignored() {
    let deep = format!("{}1{}", "{\"allOf\":[".repeat(10_000), "]}".repeat(10_000));
    let wide = json!({"$ref": "#/d", "d": {"allOf": vec![json!({"$ref": "#/d"}); 1_000], "required": ["x"], "properties": {"x": {"$ref": "#/d", "type": "object"}}}});
    for (schema, more) in [(deep, 0), ("{".to_owned(), 0), ("[]".to_owned(), 0), (wide.to_string(), 0)] {
        let world = World::with_values("a: 1\n").chart_file("values.schema.json", &schema);
        let lines = world.lines();
        assert_eq!((lines[0].as_str(), lines.len()), ("a (number) 1", 1 + more), "{lines:?}");
    }
}
