use serde_json::{Value, json};

use super::*;
use crate::Data;

fn read(text: &[u8]) -> String {
    match read_json(text) {
        Ok(node) => node.to_json(),
        Err(error) => error.to_string(),
    }
}

fn table(name: &str) -> Vec<String> {
    let path = tiphys_testkit::workspace_root().join("testdata/yaml").join(name);
    let table = std::fs::read_to_string(&path).expect("the table");
    let lines: Vec<String> = table.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect();
    assert!(lines.len() > 100, "{} cases only", lines.len());
    lines
}

#[test]
fn json_is_parsed_and_written_as_in_go() {
    for line in table("go-json.jsonl") {
        let case: Value = serde_json::from_str(&line).expect("JSON");
        let text = case["json"].as_str().expect("a text");
        let ours = read_json(text.as_bytes()).map(|node| node.to_json());
        match case["go"].as_str() {
            Some(theirs) => assert_eq!(ours.as_deref(), Ok(theirs), "{text:?}"),
            None => assert!(ours.is_err(), "{text:?}: {ours:?} instead of {case}"),
        }
    }
}

#[test]
fn floats_are_written_as_in_go() {
    for line in table("go-floats.tsv") {
        let columns: Vec<&str> = line.split('\t').collect();
        let [bits, text, key] = columns[..] else { panic!("{line}: expected three columns") };
        let value = f64::from_bits(u64::from_str_radix(bits, 16).expect("bits"));
        assert_eq!(float_text(value), text, "{bits}");
        assert_eq!(write_go_json(&json!({ "f": value })), format!(r#"{{"f":{text}}}"#));
        let key = key.replace("+Inf", ".inf").replace("-Inf", "-.inf");
        assert_eq!(crate::scalar::key_text(Data::Float(value.into())), Ok(key), "{bits}");
    }
}

#[test]
fn keys_are_sorted_by_bytes_and_html_is_escaped() {
    let value = json!({
        "é": 1, "z": [true, false, null, -1, u64::MAX], "Z": {}, "": [],
        "<&>": "\u{0}\u{8}\u{c}\n\r\t\u{1f}\"\\/'\u{7f}\u{80}\u{2028}\u{2029}\u{2027}😀\u{fffd}",
    });
    let expected = concat!(
        r#"{"":[],"\u003c\u0026\u003e":"\u0000\b\f\n\r\t\u001f\"\\/'"#,
        "\u{7f}\u{80}",
        r"\u2028\u2029",
        "\u{2027}😀\u{fffd}",
        r#"","Z":{},"z":[true,false,null,-1,18446744073709551615],"é":1}"#
    );
    assert_eq!(write_go_json(&value), expected);
}

#[test]
fn invalid_utf_8_is_replaced_byte_by_byte() {
    for (text, expected) in [
        (&b"\"\xff\xfe\""[..], "\"\u{fffd}\u{fffd}\""),
        (b"\"\xf0\x9f\x98\"", "\"\u{fffd}\u{fffd}\u{fffd}\""),
        (b"\"\xed\xa0\x80\"", "\"\u{fffd}\u{fffd}\u{fffd}\""),
        (b"{\"\xc3\":1}", "{\"\u{fffd}\":1}"),
        (br#""\ud800\u0041""#, "\"\u{fffd}A\""),
        (br#""\ud800\ud83d\ude00\udc00""#, "\"\u{fffd}😀\u{fffd}\""),
    ] {
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn integers_keep_64_bits() {
    for (text, data) in [
        ("9223372036854775807", Data::Integer(i64::MAX)),
        ("9223372036854775808", Data::Unsigned(1 << 63)),
        ("18446744073709551616", Data::Float(18_446_744_073_709_551_616.0.into())),
        ("-9223372036854775808", Data::Integer(i64::MIN)),
        ("-0", Data::Integer(0)),
        ("-0.0", Data::Float((-0.0).into())),
        ("1.0", Data::Float(1.0.into())),
        ("1e3", Data::Float(1000.0.into())),
    ] {
        assert_eq!(read_json(text.as_bytes()).map(|node| node.data), Ok(data), "{text}");
    }
    assert_eq!(read(b"[1e400]"), "line 1, column 2: the number 1e400 is too large");
}

#[test]
fn errors_have_message_and_position() {
    for (text, expected) in [
        ("", "line 1, column 1: expected a value, the text ends"),
        ("{\"a\":1,}", "line 1, column 8: expected a key in double quotes, `}` found"),
        ("[1,\n 2,]", "line 2, column 4: expected a value, `]` found"),
        ("{\"é\" 1}", "line 1, column 6: expected `:` after a key, `1` found"),
        ("[1 2]", "line 1, column 4: expected `,` or `]` after a list item, `2` found"),
        ("{\"a\":1 é", "line 1, column 8: expected `,` or `}` after a value, `é` found"),
        ("[1] x", "line 1, column 5: expected the end of the text, `x` found"),
        ("// c\n1", "line 1, column 1: expected a value, `/` found"),
        ("\"a", "line 1, column 3: the string is not closed"),
        ("\"a\nb\"", "line 1, column 3: a control character in a string must be escaped"),
        ("\"\\x\"", "line 1, column 2: unknown escape in a string"),
        ("\"\\u12\"", "line 1, column 2: `\\u` needs four hexadecimal digits"),
        ("01", "line 1, column 2: expected the end of the text, `1` found"),
        ("-", "line 1, column 2: expected a digit, the text ends"),
        ("1.", "line 1, column 3: expected a digit, the text ends"),
        ("nul", "line 1, column 1: expected a value, `n` found"),
        ("\u{feff}1", "line 1, column 1: expected a value, `\u{feff}` found"),
    ] {
        assert_eq!(read(text.as_bytes()), expected, "{text:?}");
    }
}

#[test]
fn nesting_limit_protects_the_stack() {
    let depth_max = crate::LIMITS.depth_max;
    let nested = |depth: usize| format!("{}{}", "{\"a\":[".repeat(depth / 2), "]}".repeat(depth / 2));
    let node = read_json(nested(depth_max).as_bytes()).expect("not too deep");
    let copy = node.clone().deduplicated();
    assert_eq!(copy, node);
    assert_eq!(copy.to_json(), nested(depth_max));
    assert_eq!(write_go_json(&copy.to_value()), nested(depth_max));
    let yaml = crate::write_yaml(&copy.to_value());
    assert_eq!(
        crate::read_document(yaml.as_bytes()).expect("valid").map(|node| node.to_json()),
        Some(nested(depth_max))
    );
    assert_eq!(read(nested(depth_max + 2).as_bytes()), "line 1, column 3001: nested deeper than 1000 levels");
}

#[test]
fn duplicate_keys_are_kept_and_the_last_is_written() {
    let node = read_json(br#"{"a":1,"b":2,"a":3}"#).expect("valid");
    let Data::Mapping(entries) = &node.data else { panic!("an object") };
    assert_eq!(entries.len(), 3);
    assert_eq!(node.to_json(), r#"{"a":3,"b":2}"#);
}

#[test]
fn negative_zero_is_a_float_in_json_only() {
    let any = |node: Node| crate::write_go_json(&node.to_any_value());
    let unstructured = |node: Node| crate::write_go_json(&node.to_value());
    for (text, of_json, of_yaml) in [
        ("[-0, -0.0, -0e1, 0, -1]", "[-0,-0,-0,0,-1]", "[0,-0,-0,0,-1]"),
        (r#"{"a": -0}"#, r#"{"a":-0}"#, r#"{"a":0}"#),
    ] {
        let json = || read_json_as_any(text.as_bytes()).expect(text);
        let yaml = || crate::read_document(text.as_bytes()).expect(text).expect(text);
        assert_eq!((any(json()), any(yaml())), (of_json.to_owned(), of_yaml.to_owned()));
        assert_eq!(unstructured(json()), of_json.replace("-0", "0"));
        assert_eq!(unstructured(yaml()), of_json.replace("-0", "0"));
    }
}
