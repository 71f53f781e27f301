use std::fmt::Write as _;

use serde_json::Value;

use super::*;
use crate::Data;

/// Returns the first document as the JSON that Kubernetes converts it to, or the error.
fn read(yaml: &str) -> String {
    read_bytes(yaml.as_bytes())
}

fn read_bytes(yaml: &[u8]) -> String {
    match read_document(yaml) {
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

/// Compares with recorded results of Go. `accepted` are documents that are rejected there but accepted here.
#[track_caller]
fn check_table(name: &str, accepted: &[&str]) {
    let path = tiphys_testkit::workspace_root().join("testdata/yaml").join(name);
    let table = std::fs::read_to_string(&path).expect("the table");
    let mut differences = String::new();
    let mut count = 0;
    for line in table.split('\n').filter(|line| !line.is_empty()) {
        let case: Value = serde_json::from_str(line).expect("JSON");
        let yaml = case["yaml"].as_str().expect("a document");
        let decoded = crate::text::decode(yaml.as_bytes());
        let mut documents = Documents::new(&decoded, Position::START, LIMITS);
        let ours = documents.next_document().map(|node| {
            let json = node.map_or("null".to_owned(), |node| node.to_json());
            if documents.has_replaced_bytes() { json.replace('\u{FFFD}', "\\ufffd") } else { json }
        });
        let equal = match (&ours, case["json"].as_str()) {
            (Ok(ours), Some(theirs)) => ours == theirs,
            (Err(_), None) => !accepted.contains(&yaml),
            (Ok(_), None) => accepted.contains(&yaml),
            (Err(_), Some(_)) => false,
        };
        if !equal {
            writeln!(differences, "{yaml:?}: {ours:?} instead of {case}").expect("writing to a string");
        }
        count += 1;
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(count > 100, "{count} cases only");
}

#[test]
fn scalars_and_keys_are_resolved_as_in_go() {
    check_table("go-scalars.jsonl", &[]);
}

#[test]
fn structure_is_parsed_as_in_go() {
    check_table(
        "go-structure.jsonl",
        // A question mark inside a plain scalar in a flow collection is valid YAML.
        &["[http://x?y]\n"],
    );
}

#[test]
fn only_the_first_document_is_read() {
    check(&[
        ("a: 1\n---\nb: [\n", r#"{"a":1}"#),
        ("a: 1\n...\n@\n", r#"{"a":1}"#),
        ("{a: 1} }", r#"{"a":1}"#),
        ("", "nothing"),
        ("# only a comment\n", "nothing"),
        ("null\n---\na: 1\n", "nothing"),
        ("---\n---\na: 1\n", "nothing"),
    ]);
}

#[test]
fn json_that_is_invalid_yaml_is_read() {
    let long_key = "k".repeat(1_100);
    let long = format!(r#"{{"{long_key}":1}}"#);
    check(&[
        (r#"{"a":"\/\ud83d\ude00"}"#, r#"{"a":"/😀"}"#),
        (r#"{"a":"\ud800"}"#, "{\"a\":\"\u{FFFD}\"}"),
        ("{\"a\":\"\u{7f}\u{80}\u{ffff}\"}", "{\"a\":\"\u{7f}\u{80}\u{ffff}\"}"),
        ("{\t\"a\"\n:1}", r#"{"a":1}"#),
        (&long, &long),
        // A number outside the range of a float is a string, as in YAML.
        ("[1E400]", r#"["1E400"]"#),
        // YAML's additional line breaks count if YAML can parse the text at all.
        ("{\"a\":\"x\u{85}y\"}", r#"{"a":"x y"}"#),
        ("{\"a\":\"x\u{85}\u{7f}\"}", "{\"a\":\"x\u{85}\u{7f}\"}"),
    ]);
}

#[test]
fn json_escapes_are_valid_in_yaml() {
    check(&[("a: \"\\/\\ud83d\\ude00\"", r#"{"a":"/😀"}"#)]);
    assert_eq!(read("a: \"\\ud83d\""), "line 1, column 5: the escape is not a valid character");
}

#[test]
fn encoding_is_detected_by_byte_order_mark() {
    let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{FEFF}a: é😀\n".encode_utf16().flat_map(unit).collect()
    };
    assert_eq!(read("\u{FEFF}a: é"), r#"{"a":"é"}"#);
    assert_eq!(read("\u{FEFF}{\"a\": \"\\/\"}"), r#"{"a":"/"}"#);
    assert_eq!(read_bytes(&utf16(u16::to_le_bytes)), r#"{"a":"é😀"}"#);
    assert_eq!(read_bytes(&utf16(u16::to_be_bytes)), r#"{"a":"é😀"}"#);
    assert_eq!(read_bytes(b"\xff\xfea\0:\0 \0\x00\xd8"), "line 1, column 4: invalid UTF-16");
    assert_eq!(read_bytes(b"\xff\xfea\0:"), "line 1, column 2: incomplete UTF-16 character");
    assert_eq!(read_bytes(b"a: b\nc: \xffd"), "line 2, column 4: invalid UTF-8");
}

fn position(node: &Node) -> (usize, usize) {
    (node.position.line, node.position.column)
}

#[test]
fn values_and_keys_have_positions() {
    let yaml = "# é\r\na: é x\r\n\"é\": {b: [1, {c: }]}\nd:\n- e: |\n    x\n  f: &x !!str 1\n  g: *x\n-\n";
    let node = read_document(yaml.as_bytes()).expect("valid").expect("not empty");
    for (path, line, column) in [
        (&[][..], 2, 1),
        (&["a"], 2, 4),
        (&["é"], 3, 6),
        (&["é", "b"], 3, 10),
        (&["é", "b", "0"], 3, 11),
        (&["é", "b", "1"], 3, 14),
        // An implicit null has the position at which a value would begin.
        (&["é", "b", "1", "c"], 3, 17),
        (&["d"], 5, 1),
        (&["d", "0"], 5, 3),
        (&["d", "0", "e"], 5, 6),
        // With anchor and tag.
        (&["d", "0", "f"], 7, 6),
        // An alias has the position of its value.
        (&["d", "0", "true"], 7, 6),
        (&["d", "1"], 9, 2),
    ] {
        let path: &[&str] = path;
        let path: Vec<&str> = path.iter().map(|step| if *step == "true" { "g" } else { step }).collect();
        let found = node.at(path.iter().copied()).unwrap_or_else(|| panic!("{path:?} not found"));
        assert_eq!(position(found), (line, column), "{path:?}");
    }
    let Data::Mapping(entries) = &node.data else { panic!("an object") };
    let keys: Vec<_> =
        entries.iter().map(|entry| (entry.key.position.line, entry.key.position.column)).collect();
    assert_eq!(keys, [(2, 1), (3, 1), (4, 1)]);
}

#[test]
fn json_values_have_positions() {
    let node = read_document(b"{\n  \"\xc3\xa9\": [1,\n \"x\"]}").expect("valid").expect("not empty");
    assert_eq!(position(&node), (1, 1));
    assert_eq!(node.at(["é"]).map(position), Some((2, 8)));
    assert_eq!(node.at(["é", "0"]).map(position), Some((2, 9)));
    assert_eq!(node.at(["é", "1"]).map(position), Some((3, 2)));
}

#[test]
fn documents_have_positions_in_the_file() {
    let nodes =
        read_documents(b"a: 1\n--- # c\n---\nnull\n---\n- b\n...\n%YAML 1.1\n---\nc\n").expect("valid");
    let found: Vec<_> = nodes.iter().map(|node| (node.to_json(), position(node))).collect();
    assert_eq!(
        found,
        [(r#"{"a":1}"#.to_owned(), (1, 1)), (r#"["b"]"#.to_owned(), (6, 1)), (r#""c""#.to_owned(), (10, 1))]
    );
    let error = read_documents(b" a: 1\nb: 2\n").expect_err("wrong indentation");
    assert_eq!(error.to_string(), "line 2, column 1: expected `---` before another document");
    let error = read_documents(b"a: 1\n---\nb: [\n").expect_err("an unclosed list");
    assert_eq!(error.to_string(), "line 4, column 1: expected a value");
    assert!(read_documents(b"# nothing\n").expect("valid").is_empty());
}

#[test]
fn duplicate_keys_are_kept_in_order() {
    let node = read_document(b"a: 1\nb: 2\na: 3\n").expect("valid").expect("not empty");
    let Data::Mapping(entries) = &node.data else { panic!("an object") };
    let keys: Vec<_> = entries.iter().map(|entry| entry.key.text.as_str()).collect();
    assert_eq!(keys, ["a", "b", "a"]);
    assert_eq!(node.to_value(), serde_json::json!({"a": 3, "b": 2}));
    let Data::Mapping(entries) = node.deduplicated().data else { panic!("an object") };
    let kept: Vec<_> =
        entries.iter().map(|entry| (entry.key.text.as_str(), entry.key.position.line)).collect();
    assert_eq!(kept, [("a", 3), ("b", 2)]);
}

#[test]
fn repeated_keys_are_reported_with_path_and_position() {
    let yaml = "a: 1\nb:\n- {c: 1, d: 2}\n- {c: 1, c: {e: 1, e: 2}}\na: 2\na: 3\n";
    let node = read_document(yaml.as_bytes()).expect("valid").expect("not empty");
    let found: Vec<String> =
        node.repeated_keys().iter().map(|(path, key)| format!("{path} {}", key.position)).collect();
    assert_eq!(found, ["b[1].c 4:10", "b[1].c.e 4:20", "a 5:1", "a 6:1"]);
}

#[test]
fn overridden_merge_entries_are_not_duplicates() {
    for (yaml, expected) in [
        ("b: &x {k: 1, l: 1}\nc: {<<: *x, k: 2}\n", vec!["l", "k"]),
        ("b: &x {k: 1, l: 1}\nc: {k: 2, <<: *x}\n", vec!["k", "l"]),
        ("b: &x {k: 1}\nc: {k: 2, <<: *x, k: 3, k: 4}\n", vec!["k", "k"]),
        ("b: &x {k: 1}\nc: {<<: [*x, {k: 5}]}\n", vec!["k"]),
    ] {
        let node = read_document(yaml.as_bytes()).expect("valid").expect("not empty");
        let Some(Data::Mapping(entries)) = node.get("c").map(|node| &node.data) else { panic!("an object") };
        let keys: Vec<_> = entries.iter().map(|entry| entry.key.text.as_str()).collect();
        assert_eq!(keys, expected, "{yaml}");
    }
}

#[test]
fn numbers_are_converted_as_in_kubernetes() {
    let node = read_document(b"[1.0, 1e3, -0.0, 9223372036854775808, 1e20, 0.5]")
        .expect("valid")
        .expect("not empty");
    assert_eq!(node.to_json(), "[1,1000,-0,9223372036854775808,100000000000000000000,0.5]");
    let value = node.to_value();
    assert_eq!(value, serde_json::json!([1, 1000, 0, 9_223_372_036_854_775_808.0_f64, 1e20, 0.5]));
}

#[test]
fn limits_are_enforced() {
    let limits = Limits { depth_max: 3, nodes_max: 10, alias_bytes_max: 100 };
    let read = |yaml: &str| match read_document_within(yaml.as_bytes(), limits) {
        Ok(_) => "read".to_owned(),
        Err(error) => {
            assert!(error.is_limit(), "{error}");
            error.to_string()
        }
    };
    let malformed = read_document_within(b"{", limits).expect_err("an unclosed object");
    assert!(!malformed.is_limit());
    for (yaml, expected) in [
        ("[[[1]]]", "read"),
        ("[[[[1]]]]", "line 1, column 4: nested deeper than 3 levels"),
        ("a:\n b:\n  c:\n   d: 1\n", "line 4, column 4: nested deeper than 3 levels"),
        ("- &x [[1]]\n- [*x]", "line 2, column 4: nested deeper than 3 levels"),
        ("[1,2,3,4,5,6,7,8]", "read"),
        ("[1,2,3,4,5,6,7,8,9]", "line 1, column 18: the document has more than 10 nodes"),
        ("[&x [1,2], *x, *x]", "line 1, column 16: the document has more than 10 nodes"),
        ("- &x aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n- *x\n", "read"),
        (
            "- &x aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n- *x\n- *x\n",
            "line 3, column 3: the document contains excessive aliasing",
        ),
        (
            "&a [&b [&c aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]]",
            "line 1, column 1: the document contains excessive anchors",
        ),
    ] {
        assert_eq!(read(yaml), expected, "{yaml}");
    }
}

#[test]
fn excessive_aliasing_is_rejected_as_in_go() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, inner) in [("b", "a"), ("c", "b"), ("d", "c"), ("e", "d")] {
        writeln!(bomb, "{name}: &{name} [{}]", vec![format!("*{inner}"); 9].join(","))
            .expect("writing to a string");
    }
    assert_eq!(read(&bomb), "line 4, column 17: the document contains excessive aliasing");
}

#[test]
fn errors_have_message_and_position() {
    check(&[
        ("a:\n\tb: 1", "line 2, column 1: a tab cannot be used for indentation"),
        ("a: b: c", "line 1, column 5: `: ` is not allowed here; quote the text that it is part of"),
        ("a: 1\nb\n", "line 2, column 1: expected `:` after this key"),
        ("a: [1\nb: 2", "line 2, column 2: expected `,` or `]` of the list that begins at 1:4"),
        ("a: {b: 1", "line 1, column 9: expected `,` or `}` of the object that begins at 1:4"),
        ("a: 1\n b: 2", "line 2, column 3: `: ` is not allowed here; quote the text that it is part of"),
        ("- a\nb: 1", "line 2, column 1: expected `-` of the next item of the list that begins at 1:1"),
        ("a: @b", "line 1, column 4: a plain string cannot begin with `@`; quote it"),
        ("a: \"b", "line 1, column 4: the quoted text is not closed"),
        ("a: \"b\n---\n", "line 2, column 1: a document ends within a quoted text"),
        ("a: \"\\q\"", "line 1, column 6: unknown escape in a quoted text"),
        ("a: \"\\x4\"", "line 1, column 8: the escape needs 2 hexadecimal digits"),
        ("a: *b", "line 1, column 4: alias to the unknown anchor `b`"),
        ("a: &b [*b]", "line 1, column 8: the value of the anchor `b` contains itself"),
        ("a: !x!y z", "line 1, column 4: the tag handle `!x!` is not declared"),
        ("a: !!int x", "line 1, column 4: cannot read !!str `x` as a !!int"),
        ("a: !!binary x", "line 1, column 4: !!binary value is not base64"),
        ("a: .inf", "line 1, column 4: infinity and NaN have no place in JSON; quote it to get a string"),
        ("~: a", "line 1, column 1: null cannot be a key"),
        (
            "a: {{ b }}",
            "line 1, column 5: an object cannot be a key (is this a template that was not rendered?)",
        ),
        ("<<: 1", "line 1, column 5: `<<` needs an object or a list of objects as its value"),
        ("a: |0\n b", "line 1, column 5: the indentation of a block text is 1 at least"),
        ("a: | b", "line 1, column 6: expected the end of the line at the beginning of a block text"),
        ("%FOO\n---\n", "line 1, column 1: unknown directive `%FOO`"),
        ("%YAML 2.0\n---\n", "line 1, column 1: YAML of version 2 is not known"),
        ("a: x\u{7}", "line 1, column 5: control character U+0007 is not allowed"),
        ("- a\n- é\u{0}", "line 2, column 4: control character U+0000 is not allowed"),
    ]);
}

#[test]
fn truncated_tags_anchors_and_escapes_do_not_panic() {
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
        "'",
        "|",
        ">-",
        "- ? :",
    ] {
        for end in ["", "\n", " ", "\r"] {
            let outcome = read(&format!("{yaml}{end}"));
            assert!(!outcome.is_empty(), "{yaml:?}");
        }
    }
}

#[test]
fn long_flat_texts_are_read_in_linear_time() {
    // A tokenizer that scans all open brackets for each token takes minutes for this.
    let deep = format!("{}{}{}", "[".repeat(999), "1,".repeat(200_000), "]".repeat(999));
    let node = read_document(deep.as_bytes()).expect("valid").expect("not empty");
    assert_eq!(node.to_json().len(), deep.len() - 1);
    let lines = "a:\n- b: 'x y'\n".repeat(50_000);
    assert_eq!(
        read_document(lines.as_bytes()).expect("valid").map(|node| node.to_value()),
        Some(serde_json::json!({"a": [{"b": "x y"}]}))
    );
}

#[test]
fn unquoted_scalars_can_be_read_as_strings() {
    for (yaml, expected) in [
        (
            "a: yes\nb: 0123\nc: 1e3\nd: 9007199254740993\ne: 1.10\n",
            r#"{"a":"yes","b":"0123","c":"1e3","d":"9007199254740993","e":"1.10"}"#,
        ),
        ("- null\n- ~\n-\n- NULL\n- .inf\n- 2001-12-14\n", r#"[null,null,null,"NULL",".inf","2001-12-14"]"#),
        ("0x10: 'null'\ntrue: \"1\"\n", r#"{"0x10":"null","true":"1"}"#),
        (
            "a: !!int 0x10\nb: !!str 1\nc: &c 1_0\nd: *c\n<<: {e: no}\n",
            r#"{"a":16,"b":"1","c":"1_0","d":"1_0","e":"no"}"#,
        ),
        (
            r#"{"a": 1.10, "b": true, "c": null, "d": "\/", "e": 1e400, "f": [false]}"#,
            r#"{"a":"1.10","b":"true","c":null,"d":"/","e":"1e400","f":["false"]}"#,
        ),
        ("{a: 1.10, b: [on]}", r#"{"a":"1.10","b":["on"]}"#),
    ] {
        let node = read_document_of_texts(yaml.as_bytes()).expect(yaml).expect(yaml);
        assert_eq!(node.to_json(), expected, "{yaml}");
    }
    assert_eq!(read_document_of_texts(b"~\n"), Ok(None));
}
