//! Types, choices and descriptions from schemas.

use serde_json::{Value as Json, json};
use tiphys_helm_values::PathItem;

use super::{CHOICES_MAX, SCHEMAS_MAX, Schemas};

/// Types, choices and description of the value at a path.
fn read(schema: &Json, path: &[PathItem]) -> String {
    let mut schemas = Schemas::default();
    schemas.add(schema);
    for item in path {
        schemas = schemas.of(item);
    }
    let types = schemas.types().map_or_else(|| "-".to_owned(), |types| types.to_string());
    format!("{types} {:?} {}", schemas.choices(), schemas.description())
}

fn key(key: &str) -> PathItem {
    PathItem::Key(key.to_owned())
}

#[test]
fn types_and_choices_of_all_drafts_are_read() {
    let cases = [
        (json!({"type": "integer"}), "integer [] "),
        (json!({"type": ["number", "null"]}), "number|null [] "),
        (json!({"type": ["integer", "number"]}), "number [] "),
        (json!({"type": "boolean", "description": " On or off. "}), "boolean [] On or off."),
        (json!({"type": "string", "enum": ["a", "b"]}), r#"string ["a", "b"] "#),
        (
            json!({"enum": [1, 2.5, 1_000_000.0, true, null]}),
            r#"boolean|number|null ["1", "2.5", "1000000", "true"] "#,
        ),
        (json!({"const": "only"}), r#"string ["only"] "#),
        (json!({"enum": ["a", {}]}), "string|object [] "),
        (json!({"enum": [1, 2.0]}), r#"integer ["1", "2"] "#),
        (json!({"type": ["integer", "string"]}), "integer|string [] "),
        (json!({"type": ["integer", "string"], "enum": ["a", "b"]}), r#"string ["a", "b"] "#),
        (json!({"type": "array"}), "array [] "),
        (json!({"type": "null"}), "null [] "),
        (json!({"type": 5, "enum": "a", "description": []}), "- [] "),
        (json!({"anyOf": [{"type": "null"}, {"type": "string"}]}), "string|null [] "),
        (json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}), "integer|string [] "),
        (json!({"oneOf": [{"type": "integer"}, {"enum": ["a", true]}]}), "boolean|integer|string [] "),
        (json!({"oneOf": [{"type": "integer"}, {"description": "anything"}]}), "- [] "),
        (
            json!({"anyOf": [{"anyOf": [{"type": "null"}, {"type": "string"}]}, {"const": 1}]}),
            "integer|string|null [] ",
        ),
        (json!({"allOf": [{"description": "both"}, {"type": "integer"}]}), "integer [] both"),
        (json!({"type": ["number", "null"], "allOf": [{"type": ["integer", "string"]}]}), "integer [] "),
        (json!({"type": "boolean", "allOf": [{"type": "string"}]}), "- [] "),
        (json!(true), "- [] "),
        (json!([]), "- [] "),
    ];
    for (schema, expected) in cases {
        assert_eq!(read(&json!({"properties": {"v": schema.clone()}}), &[key("v")]), expected, "{schema}");
    }
}

#[test]
fn keys_and_items_of_all_drafts_are_found() {
    let number = json!({"type": "number"});
    let cases = [
        (json!({"properties": {"a": {"properties": {"b": number}}}}), vec![key("a"), key("b")], "number"),
        (json!({"additionalProperties": number}), vec![key("x")], "number"),
        (
            json!({"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": number}),
            vec![key("x")],
            "-",
        ),
        (
            json!({"properties": {"x": {"type": "string"}}, "additionalProperties": number}),
            vec![key("x")],
            "string",
        ),
        (json!({"items": number}), vec![PathItem::Index(7)], "number"),
        (json!({"items": [{"type": "string"}, number]}), vec![PathItem::Index(1)], "number"),
        (json!({"prefixItems": [number], "items": {"type": "string"}}), vec![PathItem::Index(0)], "number"),
        (json!({"prefixItems": [number], "items": {"type": "string"}}), vec![PathItem::Index(1)], "string"),
        (
            json!({"$ref": "#/definitions/d", "definitions": {"d": {"items": number}}}),
            vec![PathItem::Index(0)],
            "number",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/$defs/x~1y%20z"}}, "$defs": {"x/y z": number}}),
            vec![key("a")],
            "number",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/$defs/%+1"}}, "$defs": {"%+1": number}}),
            vec![key("a")],
            "number",
        ),
        (json!({"properties": {"a": {"$ref": "#/nowhere"}}}), vec![key("a")], "-"),
        (json!({"properties": {"a": {"$ref": "https://example.org/s.json"}}}), vec![key("a")], "-"),
    ];
    for (schema, path, expected) in cases {
        assert_eq!(read(&schema, &path).split(' ').next(), Some(expected), "{schema}");
    }
}

#[test]
fn required_keys_are_unique_and_in_order() {
    let mut schemas = Schemas::default();
    let schema = json!({"required": ["b", "a", 5], "allOf": [{"required": ["a", "c"]}]});
    schemas.add(&schema);
    assert_eq!(schemas.required(), ["b", "a", "c"]);
}

#[test]
fn circular_and_nested_schemas_stop_at_the_limit() {
    let circle = json!({"properties": {"a": {"$ref": "#"}}, "$ref": "#", "type": "object"});
    assert_eq!(read(&circle, &vec![key("a"); 50]), "object [] ");
    let alternatives = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
    assert_eq!(read(&alternatives, &[]), "- [] ");
    let branches =
        json!({"$defs": {"d": {"allOf": vec![json!({"$ref": "#/$defs/d"}); 1_000]}}, "$ref": "#/$defs/d"});
    let mut schemas = Schemas::default();
    schemas.add(&branches);
    assert_eq!(schemas.0.len(), SCHEMAS_MAX);
}

#[test]
fn too_many_choices_are_omitted() {
    let words =
        |count: usize| json!({"enum": (0..count).map(|number| number.to_string()).collect::<Vec<_>>()});
    let count = |schema: &Json| {
        let mut schemas = Schemas::default();
        schemas.add(schema);
        schemas.choices().len()
    };
    assert_eq!((count(&words(CHOICES_MAX)), count(&words(CHOICES_MAX + 1))), (CHOICES_MAX, 0));
}
