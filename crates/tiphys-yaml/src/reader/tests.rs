use super::*;

/// The first document as the JSON that Kubernetes makes of it, or the error.
fn read(yaml: &str) -> String {
    match read_document(yaml.as_bytes()) {
        Ok(Some(node)) => node.to_json(),
        Ok(None) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (yaml, expected) in cases {
        assert_eq!(read(yaml), *expected, "{yaml:?}");
    }
}

#[test]
fn documents_are_read_as_kubernetes_reads_them() {
    check(&[
        ("a: 1\nb:\n- x\n- {c: d}\n", r#"{"a":1,"b":["x",{"c":"d"}]}"#),
        ("a: 1\n---\nb: 2\n", r#"{"a":1}"#),
        ("", "nothing"),
        ("# only a comment\n", "nothing"),
        ("null", "nothing"),
        (r#"{"a":"\/\ud83d\ude00"}"#, r#"{"a":"/😀"}"#),
    ]);
}

#[test]
fn nothing_panics() {
    for yaml in [
        "[!a,b]",
        "{a: !!str, b: 1}",
        "\"\\",
        "\"a\\",
        "!",
        "[!",
        "&",
        "*",
        "%",
        "%YAML",
        "%TAG ! ",
        "a: !<x>,",
    ] {
        println!("{yaml:?}: {}", read(yaml));
    }
}
