use serde_json::{Value, json};
use tiphys_service::documents::ParameterDocument;
use tiphys_service::params::EditedValue;

use super::{Draft, Edited, Entered, hash, lost};
use crate::posted::Posted;

/// A parameter of a kind (`itemType collectionType`) with a value, set in a layer.
fn parameter(kind: &str, layer: &str, value: Value) -> ParameterDocument {
    let (item_type, collection_type) = kind.split_once(' ').unwrap_or((kind, ""));
    let choices = if item_type == "choice" { vec!["a".to_owned(), "b".to_owned()] } else { Vec::new() };
    let origin = match layer {
        "chart default" => "default",
        "override" => "file",
        _ => "set",
    };
    ParameterDocument {
        name: "set.x".to_owned(),
        title: String::new(),
        tooltip: String::new(),
        required: false,
        item_type: if item_type == "choice" { String::new() } else { item_type.to_owned() },
        collection_type: collection_type.to_owned(),
        choices,
        announced: true,
        origin: origin.to_owned(),
        layer: layer.to_owned(),
        value: Some(value).filter(|value| !value.is_null()),
        reference: None,
        default: None,
        location: None,
        missing: false,
        problems: Vec::new(),
        suggestions: Vec::new(),
        source_position: 1,
        source_name: String::new(),
        version: None,
    }
}

fn text(text: &str) -> Value {
    json!({"string": text})
}

/// Posts fields, and returns the change: `text`, JSON, `reset`, an error, or nothing.
fn posted(parameter: &ParameterDocument, form: &str) -> String {
    let posted = Posted::parse(form.as_bytes()).expect("a form");
    match Draft::posted(parameter, &posted).change() {
        None => "unchanged".to_owned(),
        Some(Ok(None)) => "reset".to_owned(),
        Some(Ok(Some(EditedValue::Text(text)))) => format!("text {text:?}"),
        Some(Ok(Some(EditedValue::Json(value)))) => format!("json {value}"),
        Some(Err(problem)) => problem,
    }
}

#[test]
fn posted_values_become_changes() {
    let default = |kind, value| parameter(kind, "chart default", value);
    let cases = vec![
        (default("string", text("a")), "/set.x=a", "unchanged"),
        (default("string", text("a")), "", "unchanged"),
        (default("string", text("a")), "/set.x=b", "text \"b\""),
        (default("string", text("a")), "/set.x=+b+", "text \" b \""),
        (default("string", text("a")), "/set.x=@file", "text \"@file\""),
        // Empty, null and not set are three states.
        (default("string", text("a")), "/set.x=", "text \"\""),
        (default("string", Value::Null), "/set.x=", "unchanged"),
        (default("string", Value::Null), "state:/set.x=empty", "text \"\""),
        (default("string", text("a")), "state:/set.x=null", "json null"),
        (parameter("string", "set", text("a")), "state:/set.x=reset", "reset"),
        // Text stays as it was typed.
        (default("number", text("1")), "/set.x=9007199254740993", "text \"9007199254740993\""),
        (default("number", text("1")), "/set.x=1e3", "text \"1e3\""),
        // `inherit` removes what is set, and changes nothing else.
        (default("boolean", text("true")), "/set.x=", "unchanged"),
        (default("boolean", text("true")), "/set.x=false", "text \"false\""),
        (parameter("boolean", "inline", text("true")), "/set.x=", "reset"),
        (parameter("choice", "set", text("a")), "/set.x=", "reset"),
        (parameter("choice", "set", text("a")), "/set.x=b", "text \"b\""),
        (parameter("choice", "value-file", text("a")), "/set.x=", "unchanged"),
        (parameter("choice", "set", text("")), "/set.x=", "unchanged"),
        // Lists and maps.
        (
            default("string array", json!({"array": ["a", "b"]})),
            "rows:/set.x=1&/set.x/0=a&/set.x/1=b",
            "unchanged",
        ),
        (default("string array", json!({"array": ["a", "b"]})), "rows:/set.x=1&/set.x/0=b", "json [\"b\"]"),
        (default("string array", json!({"array": ["a"]})), "rows:/set.x=1", "json []"),
        (default("string array", Value::Null), "rows:/set.x=1", "unchanged"),
        (default("string array", Value::Null), "state:/set.x=empty", "json []"),
        (default("string map", Value::Null), "rows:/set.x=1", "unchanged"),
        (default("string map", Value::Null), "state:/set.x=empty", "json {}"),
        (
            default("string map", json!({"map": {"k": "v"}})),
            "rows:/set.x=1&/set.x/0/key=k&/set.x/0/value=w",
            "json {\"k\":\"w\"}",
        ),
        (
            default("string map", json!({"map": {"k": "v"}})),
            "rows:/set.x=1&/set.x/0/key=k&/set.x/0/value=w&/set.x/1/key=k&/set.x/1/value=u",
            "entries 1 and 2: duplicate key \"k\"",
        ),
        (
            default("string map", json!({"map": {}})),
            "rows:/set.x=1&/set.x/0/key=&/set.x/0/value=u",
            "entry 1: a key is required",
        ),
        (default("array", text("[\"a\"]")), "rows:/set.x=1&/set.x/0=a&/set.x/1=b", "json [\"a\",\"b\"]"),
        (default("array", text("[{\"a\":1}]")), "/set.x=-+a:+2", "json [{\"a\":2}]"),
        (default("object", text("{}")), "/set.x=a:+[", "expected YAML: "),
    ];
    for (parameter, form, change) in cases {
        let found = posted(&parameter, form);
        let is_expected = if change.ends_with(": ") { found.starts_with(change) } else { found == change };
        assert!(is_expected, "{} {form}: expected {change}, found {found}", parameter.item_type);
    }
}

#[test]
fn value_that_changed_in_the_files_is_a_conflict_only_if_the_browser_changed_it_too() {
    let was = hash(Some(&Entered::Text("old".to_owned())));
    let moved = parameter("string", "set", text("new"));
    let cases =
        [("old", Edited::Unchanged, false), ("mine", Edited::Set, true), ("new", Edited::Unchanged, false)];
    for (value, edited, is_conflict) in cases {
        let form = format!("was:/set.x={was}&/set.x={value}");
        let draft = Draft::posted(&moved, &Posted::parse(form.as_bytes()).expect("a form"));
        assert_eq!((draft.edited, draft.is_conflict), (edited, is_conflict), "{value}");
    }
}

#[test]
fn inherited_choice_of_an_older_page_changes_nothing() {
    // The page was loaded while the value was inherited; then another change set it.
    let was = hash(Some(&Entered::Text(String::new())));
    let moved = parameter("boolean", "set", text("true"));
    let cases =
        [("", Edited::Unchanged, false), ("false", Edited::Set, true), ("true", Edited::Unchanged, false)];
    for (value, edited, is_conflict) in cases {
        let form = format!("was:/set.x={was}&/set.x={value}");
        let draft = Draft::posted(&moved, &Posted::parse(form.as_bytes()).expect("a form"));
        assert_eq!((draft.edited, draft.is_conflict), (edited, is_conflict), "{value}");
    }
}

#[test]
fn changed_values_without_a_parameter_are_found() {
    let was = hash(Some(&Entered::Text("a".to_owned())));
    let list = hash(Some(&Entered::List(vec!["a".to_owned()])));
    let cases = [
        (format!("was:/x={was}&/x=a"), false),
        (format!("was:/x={was}&/x=b"), true),
        (format!("was:/x={was}&state:/x=reset"), true),
        (format!("was:/x={was}"), false),
        (format!("was:/x={}&/x=", hash(None)), false),
        (format!("was:/x={list}&rows:/x=1&/x/0=a"), false),
        (format!("was:/x={list}&rows:/x=1&/x/0=b"), true),
    ];
    for (form, is_lost) in cases {
        let posted = Posted::parse(form.as_bytes()).expect("a form");
        assert_eq!(lost(&posted).count() == 1, is_lost, "{form}");
    }
}

#[test]
fn line_breaks_of_a_browser_change_nothing() {
    let windows = parameter("string", "set", text("a\r\nb"));
    let shown = hash(Draft::of(&windows).entered.as_ref());
    assert_eq!(posted(&windows, &format!("was:/set.x={shown}&/set.x=a%0D%0Ab")), "unchanged");
}

#[test]
fn row_buttons_change_lists_and_maps() {
    let list = |items: &[&str]| Some(Entered::List(items.iter().map(|item| (*item).to_owned()).collect()));
    let cases: [(&str, Option<usize>, &[&str]); 8] = [
        ("undo", None, &["a", "b", "c"]),
        ("add", None, &["a", "b", "c", ""]),
        ("remove", Some(1), &["a", "c"]),
        ("duplicate", Some(0), &["a", "a", "b", "c"]),
        ("up", Some(2), &["a", "c", "b"]),
        ("up", Some(0), &["a", "b", "c"]),
        ("down", Some(0), &["b", "a", "c"]),
        ("remove", Some(9), &["a", "b", "c"]),
    ];
    let parameter = parameter("string array", "set", json!({"array": ["a", "b", "c"]}));
    for (word, row, items) in cases {
        let mut draft = Draft::of(&parameter);
        draft.press(&parameter, word, row);
        assert_eq!(draft.entered, list(items), "{word} {row:?}");
    }
}
