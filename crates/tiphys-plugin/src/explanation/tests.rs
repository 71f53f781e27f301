use serde_json::{Value, json};
use tiphys_yaml::Step;

use super::{LayerPlace, ValueLayer, decode};

fn layer(kind: &str, place: LayerPlace, value: Value) -> ValueLayer {
    ValueLayer { kind: kind.to_owned(), place, value }
}

#[test]
fn layers_are_decoded_with_their_places() {
    let text = br#"[
        {"kind": "inline", "parameter": "values", "path": ["a", 0], "line": 2, "string": "x", "unknown": 1},
        {"kind": "file", "file": "values.yaml", "line": 7, "array": ["x", "y"]},
        {"kind": "file", "file": "other.yaml", "map": {"k": "v"}},
        {"file": "null.yaml", "line": null, "string": null}
    ]"#;
    let path = vec![Step::Key("a".to_owned()), Step::Index(0)];
    let file = |file: &str, line| LayerPlace::File { file: file.to_owned(), line };
    let expected = [
        layer(
            "inline",
            LayerPlace::Parameter { name: "values".to_owned(), path, line: Some(2) },
            json!({"string": "x"}),
        ),
        layer("file", file("values.yaml", Some(7)), json!({"array": ["x", "y"]})),
        layer("file", file("other.yaml", None), json!({"map": {"k": "v"}})),
        layer("", file("null.yaml", None), Value::Null),
    ];
    assert_eq!(decode(text), Ok(expected.to_vec()));
    assert_eq!(decode(b"null"), Ok(Vec::new()));
}

#[test]
fn malformed_layers_are_rejected_by_field() {
    let cases = [
        ("", "the text ends"),
        ("{}", "expected a list, found"),
        ("[1]", "[0]"),
        (r#"[{"kind": "x"}]"#, "either file or parameter"),
        (r#"[{"file": "a", "parameter": "b"}]"#, "either file or parameter"),
        (r#"[{"file": "a", "line": "7"}]"#, "[0].line"),
        (r#"[{"file": "a", "string": 7}]"#, "[0].string"),
        (r#"[{"parameter": "a", "path": [true]}]"#, "[0].path"),
    ];
    for (text, expected) in cases {
        let error = decode(text.as_bytes()).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}
