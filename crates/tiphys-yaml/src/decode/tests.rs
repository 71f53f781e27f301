use super::*;
use crate::{read_document, read_json};

fn json(text: &str) -> Node {
    read_json(text.as_bytes()).expect(text)
}

#[track_caller]
fn check<T: std::fmt::Debug>(
    read: impl Fn(&mut Object<'_>) -> Result<Option<T>, DecodeError>,
    cases: &[(&str, &str)],
) {
    for (text, expected) in cases {
        let node = json(text);
        let mut object = Object::new(&node, "spec").expect(text);
        let found = match read(&mut object) {
            Ok(Some(value)) => format!("{value:?}"),
            Ok(None) => "none".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn strings_and_booleans_are_strict_and_null_is_unset() {
    check(
        |object| object.text("f").map(|text| text.map(str::to_owned)),
        &[
            (r#"{"f":"a"}"#, r#""a""#),
            (r#"{"f":""}"#, r#""""#),
            (r"{}", "none"),
            (r#"{"f":null}"#, "none"),
            (r#"{"f":"a","f":null}"#, r#""a""#),
            (r#"{"f":"a","F":"b"}"#, r#""b""#),
            (r#"{"f":1}"#, "line 1, column 6: spec.f: expected a string, found a number; put it in quotes"),
            (
                r#"{"f":true,"f":"a"}"#,
                "line 1, column 6: spec.f: expected a string, found a boolean; put it in quotes",
            ),
        ],
    );
    check(
        |object| object.boolean("f"),
        &[
            (r#"{"f":true}"#, "true"),
            (r#"{"f":null}"#, "none"),
            (r#"{"f":"true"}"#, "line 1, column 6: spec.f: expected a boolean, found a string"),
        ],
    );
}

#[test]
fn duplicate_string_lists_are_decoded_on_top() {
    check(
        |object| object.texts("f"),
        &[
            (r#"{"f":["a",null,"b"]}"#, r#"["a", "", "b"]"#),
            (r#"{"f":[]}"#, "[]"),
            (r#"{"f":null}"#, "none"),
            (r#"{"f":["a"],"f":null}"#, "none"),
            (r#"{"f":["a","b"],"f":["c"]}"#, r#"["c"]"#),
            (r#"{"f":["a","b"],"f":[null]}"#, r#"["a"]"#),
            (r#"{"f":["a","b"],"f":["c"],"f":[null,null]}"#, r#"["c", "b"]"#),
            (r#"{"f":["a","b"],"f":[],"f":[null]}"#, r#"[""]"#),
            (r#"{"f":"a"}"#, "line 1, column 6: spec.f: expected a list of strings, found a string"),
            (
                r#"{"f":["a",1]}"#,
                "line 1, column 11: spec.f[1]: expected a string, found a number; put it in quotes",
            ),
        ],
    );
}

#[test]
fn string_maps_are_merged() {
    check(
        |object| object.text_map("f"),
        &[
            (r#"{"f":{"a":"1","b":null}}"#, r#"{"a": "1", "b": ""}"#),
            (r#"{"f":{"a":"1"},"f":{"b":"2"}}"#, r#"{"a": "1", "b": "2"}"#),
            (r#"{"f":{"a":"1","A":"2","a":"3"}}"#, r#"{"A": "2", "a": "3"}"#),
            (r#"{"f":{"a":"1"},"f":null}"#, "none"),
            (r#"{"f":{}}"#, "{}"),
            (r#"{"f":["a"]}"#, "line 1, column 6: spec.f: expected an object of strings, found a list"),
            (r#"{"f":{"a":{}}}"#, "line 1, column 11: spec.f.a: expected a string, found an object"),
        ],
    );
}

#[test]
fn last_of_duplicate_lists_wins() {
    check(
        |object| object.list("f").map(|items| items.map(<[Node]>::len)),
        &[
            (r#"{"f":[1,"a"]}"#, "2"),
            (r#"{"f":[1,2],"f":[1]}"#, "1"),
            (r#"{"f":[1],"f":null}"#, "none"),
            (r#"{"f":{}}"#, "line 1, column 6: spec.f: expected a list, found an object"),
        ],
    );
}

#[test]
fn duplicate_objects_are_merged() {
    let node = json(r#"{"f":{"a":"1","b":"2"},"F":{"b":"3"},"f":null}"#);
    let mut object = Object::new(&node, "").expect("an object");
    let mut inner = object.object("f").expect("an object").expect("present");
    assert_eq!(inner.path(), "f");
    assert_eq!(inner.text("a"), Ok(Some("1")));
    assert_eq!(inner.text("b"), Ok(Some("3")));
    check(
        |object| object.object("f").map(|object| object.map(|object| object.path().to_owned())),
        &[
            (r#"{"f":{}}"#, r#""spec.f""#),
            (r#"{"f":null}"#, "none"),
            (r#"{"f":[]}"#, "line 1, column 6: spec.f: expected an object, found a list"),
        ],
    );
}

#[test]
fn document_must_be_an_object_or_null() {
    assert!(Object::new(&json("null"), "").expect("an empty object").unknown().is_empty());
    let error = Object::new(&json("[1]"), "").expect_err("a list");
    assert_eq!(error.to_string(), "line 1, column 1: expected an object, found a list");
}

#[test]
fn last_of_duplicate_yaml_keys_replaces_the_others() {
    let node =
        read_document(b"spec: {a: u}\nspec: {b: v}\nSpec: {a: w}\n").expect("valid").expect("not empty");
    let node = node.deduplicated();
    let mut object = Object::new(&node, "").expect("an object");
    let mut spec = object.object("spec").expect("an object").expect("present");
    // `Spec` sorts before `spec`, whose second occurrence replaced the first.
    assert_eq!(spec.text("a"), Ok(Some("w")));
    assert_eq!(spec.text("b"), Ok(Some("v")));
}

#[test]
fn unknown_and_duplicate_fields_are_reported() {
    let node = json(r#"{"a":"1","x":1,"A":"2","y":2,"x":3}"#);
    let mut object = Object::new(&node, "").expect("an object");
    assert_eq!(object.text("a"), Ok(Some("2")));
    let unknown: Vec<_> = object.unknown().iter().map(|entry| entry.key.text.as_str()).collect();
    assert_eq!(unknown, ["x", "y", "x"]);
    let duplicates: Vec<_> =
        object.duplicates().iter().map(|key| (key.text.as_str(), key.position.column)).collect();
    assert_eq!(duplicates, [("A", 16), ("x", 30)]);
}

#[test]
fn field_names_are_case_insensitive() {
    for (a, b, equal) in [
        ("static", "Static", true),
        ("static", "\u{17f}tatic", true),
        ("kind", "\u{212a}IND", true),
        ("kind", "k\u{131}nd", false),
        ("a", "b", false),
        ("a", "aa", false),
        ("É", "é", true),
        ("ß", "ss", false),
    ] {
        assert_eq!(names_equal(a, b), equal, "{a} {b}");
        assert_eq!(names_equal(b, a), equal, "{b} {a}");
    }
}
