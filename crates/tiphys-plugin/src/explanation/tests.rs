use serde_json::{Value, json};
use tiphys_yaml::Step;

use super::{LayerPlace, ValueLayer, decode, decode_all};

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
fn explanations_of_all_parameters_are_lists_by_name() {
    let text = br#"{"a": [{"kind": "k", "file": "f", "string": "x"}], "b.c": null}"#;
    let place = LayerPlace::File { file: "f".to_owned(), line: None };
    let of_a = vec![layer("k", place, json!({"string": "x"}))];
    let expected = [("a".to_owned(), of_a), ("b.c".to_owned(), Vec::new())];
    assert_eq!(decode_all(text), Ok(expected.into()));
    assert_eq!(decode_all(b"null"), Ok([].into()));
    for (text, expected) in [
        ("[]", "expected an object with a list for each parameter, found a list"),
        (r#"{"a": 1}"#, "expected a list, found a number"),
        (r#"{"a": [{"kind": "k"}]}"#, "a[0]: expected an object with either file or parameter"),
    ] {
        let error = decode_all(text.as_bytes()).expect_err(text);
        assert!(error.contains(expected), "{error}");
    }
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
