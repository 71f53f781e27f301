use serde_json::{Value, json};

use super::JsonPointer;

#[test]
fn json_pointer_removes_one_field() {
    let object = json!({"a": {"b": 1, "c/d": 2, "e~f": 3, "*": 4, "": 5}, "l": [{"x": 1, "y": 2}, 7, 8]});
    let cases = [
        ("/a/b", "/a/b"),
        ("/a", "/a"),
        ("/a/c~1d", "/a/c~1d"),
        ("/a/e~0f", "/a/e~0f"),
        ("/a/*", "/a/*"),
        ("/a/", "/a/"),
        ("/l/0/x", "/l/0/x"),
        ("/l/1", "/l/1"),
        ("/l/-1", "/l/2"),
    ];
    let without = |text: &str| {
        let mut left = object.clone();
        JsonPointer::parse(text).expect("a JSON pointer").remove_from(&mut left);
        left
    };
    for (text, removed) in cases {
        let left = without(text);
        let count = |value: &Value| value.to_string().len();
        assert!(count(&left) < count(&object), "{text}: {left}");
        let is_item = removed == "/l/1";
        assert_eq!(left.pointer(removed), is_item.then_some(&json!(8)), "{text}");
    }
    for text in ["/", "/b", "/a/x", "/a/b/c", "/l/3", "/l/-4", "/l/x", "/l/-", "/l/*/x", "/x/y/z"] {
        assert_eq!(without(text), object, "{text}");
    }
    for text in ["", "a", "a/b"] {
        assert_eq!(JsonPointer::parse(text), None, "{text}");
    }
}
