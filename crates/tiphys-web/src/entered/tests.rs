use tiphys_model::params::{Field, Parameter, decode_dynamic_output, fields};

use super::{ControlPosition, Draft, Entered, pointer};
use crate::posted::Posted;

fn field(announcement: &str, parameter: &str) -> Field {
    let announced = decode_dynamic_output(format!("[{announcement}]").as_bytes()).expect("an announcement");
    let set: Vec<Parameter> = serde_json::from_str(&format!("[{parameter}]")).expect("parameters");
    fields(&announced.list, &set).remove(0)
}

fn posted(body: &str) -> Posted {
    Posted::parse(body.as_bytes()).expect("a form")
}

fn text(text: &str) -> Entered {
    Entered::Text(text.to_owned())
}

fn list(items: &[&str]) -> Entered {
    Entered::List(items.iter().map(|item| (*item).to_owned()).collect())
}

fn map(pairs: &[(&str, &str)]) -> Entered {
    Entered::Map(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
}

#[test]
fn controls_are_named_by_json_pointers() {
    assert_eq!(pointer(&field(r#"{"name": "a/b~c"}"#, "")), "/a~1b~0c");
}

#[test]
fn posted_values_are_exact_and_distinguish_empty_from_unset() {
    let number = r#"{"name": "a", "itemType": "number"}"#;
    let plain = r#"{"name": "a"}"#;
    let switch = r#"{"name": "a", "itemType": "boolean"}"#;
    let choice = r#"{"name": "a", "choices": ["", "x"]}"#;
    let items = r#"{"name": "a", "collectionType": "array"}"#;
    let choices = r#"{"name": "a", "collectionType": "array", "choices": ["x"]}"#;
    let pairs = r#"{"name": "a", "collectionType": "map"}"#;
    let cases = [
        (plain, "/a=++x%0D%0Ay%0D%0A", text("  x\ny\n")),
        (plain, "/a=", Entered::Nothing),
        (plain, "/a=&empty:/a=yes", text("")),
        (plain, "/a=x&empty:/a=yes", text("x")),
        (plain, "/a==x", text("=x")),
        (number, "/a=9007199254740993", text("9007199254740993")),
        (number, "/a=", Entered::Nothing),
        (switch, "/a=", Entered::Nothing),
        (switch, "/a==true", text("true")),
        (choice, "/a=", Entered::Nothing),
        (choice, "/a==", text("")),
        (choice, "/a==x", text("x")),
        (items, "set:/a=no", Entered::Nothing),
        (items, "set:/a=yes", list(&[])),
        (items, "set:/a=yes&/a/0=&/a/1=+y&/a/3=z", list(&["", " y"])),
        (choices, "set:/a=yes&/a/0==x&/a/1=", list(&["x", ""])),
        (pairs, "set:/a=yes", map(&[])),
        (
            pairs,
            "set:/a=yes&/a/0/key=k&/a/0/value=1&/a/1/key=k&/a/1/value=2&/a/2/key=",
            map(&[("k", "1"), ("k", "2"), ("", "")]),
        ),
    ];
    for (announcement, body, expected) in cases {
        let draft = Draft::of_post(&field(announcement, ""), &posted(body));
        assert_eq!(draft.entered, expected, "{announcement} {body}");
    }
}

#[test]
fn field_that_was_not_posted_keeps_its_set_value() {
    let text_field = field(r#"{"name": "a"}"#, r#"{"name": "a", "string": "set"}"#);
    assert_eq!(Draft::of_post(&text_field, &posted("/b=x")).entered, text("set"));
    let list_field =
        field(r#"{"name": "a", "collectionType": "array"}"#, r#"{"name": "a", "array": ["set"]}"#);
    assert_eq!(Draft::of_post(&list_field, &posted("/b=x")).entered, list(&["set"]));
}

#[test]
fn line_breaks_that_a_browser_changed_are_restored() {
    let announcement = r#"{"name": "a", "string": "d\re"}"#;
    let field = field(announcement, r#"{"name": "a", "string": "a\r\nb"}"#);
    let cases =
        [("a%0D%0Ab", "a\r\nb"), ("d%0D%0Ae", "d\re"), ("a%0D%0Ac", "a\nc"), ("a%0D%0Ab%0D%0A", "a\nb\n")];
    for (body, expected) in cases {
        let draft = Draft::of_post(&field, &posted(&format!("/a={body}")));
        assert_eq!(draft.entered, text(expected), "{body}");
    }
}

#[test]
fn row_buttons_change_rows_and_return_the_focus() {
    let items = field(r#"{"name": "a", "collectionType": "array", "array": ["d", "e"]}"#, "");
    let pairs = field(r#"{"name": "a", "collectionType": "map"}"#, "");
    let plain = field(r#"{"name": "a"}"#, "");
    let cases = [
        (&items, Entered::Nothing, "set:/a", list(&["d", "e"]), Some(ControlPosition::Row(0))),
        (&items, list(&["x"]), "unset:/a", Entered::Nothing, Some(ControlPosition::Set)),
        (&items, list(&["x"]), "add:/a", list(&["x", ""]), Some(ControlPosition::Row(1))),
        (&items, list(&["x", "y", "z"]), "remove:/a/1", list(&["x", "z"]), Some(ControlPosition::Row(1))),
        (&items, list(&["x", "y"]), "remove:/a/1", list(&["x"]), Some(ControlPosition::Row(0))),
        (&items, list(&["x"]), "remove:/a/0", list(&[]), Some(ControlPosition::Add)),
        (&items, list(&["x"]), "remove:/a/1", list(&["x"]), None),
        (&items, list(&["x"]), "add:/ab", list(&["x"]), None),
        (&items, list(&["x"]), "add:/a/0", list(&["x"]), None),
        (&items, Entered::Nothing, "add:/a", Entered::Nothing, None),
        (&items, list(&["x"]), "explode:/a", list(&["x"]), None),
        (&pairs, Entered::Nothing, "set:/a", map(&[]), Some(ControlPosition::Add)),
        (&pairs, map(&[("k", "v")]), "add:/a", map(&[("k", "v"), ("", "")]), Some(ControlPosition::Key(1))),
        (
            &pairs,
            map(&[("k", "v"), ("l", "w")]),
            "remove:/a/0",
            map(&[("l", "w")]),
            Some(ControlPosition::Key(0)),
        ),
        (&plain, text("x"), "unset:/a", Entered::Nothing, Some(ControlPosition::First)),
        (&plain, text("x"), "remove:/a/0", text("x"), None),
    ];
    for (field, entered, op, after, focus) in cases {
        let mut draft = Draft { entered: entered.clone(), several_lines: false };
        assert_eq!(draft.follow(field, op), focus, "{entered:?} {op}");
        assert_eq!(draft, Draft { entered: after, several_lines: false }, "{entered:?} {op}");
    }
    let mut draft = Draft { entered: text("x"), several_lines: false };
    assert_eq!(draft.follow(&plain, "lines:/a"), Some(ControlPosition::First));
    assert_eq!(draft, Draft { entered: text("x"), several_lines: true });
}
