use super::{check, first_value};

#[test]
fn what_follows_the_first_value_is_ignored() {
    for (bytes, expected) in [
        ("", None),
        (" \t\r\n", None),
        (" {} x", Some("{}")),
        ("[1,[],{\"a\":[{}]}]]", Some("[1,[],{\"a\":[{}]}]")),
        ("\"a\\\"\\u00e4\\n\"b", Some("\"a\\\"\\u00e4\\n\"")),
        ("-0.5e+10 1", Some("-0.5e+10")),
        ("01", Some("0")),
        ("5x", Some("5")),
        ("truex", Some("true")),
    ] {
        assert_eq!(first_value(bytes.as_bytes()), Ok(expected.map(str::as_bytes)), "{bytes}");
    }
}

#[test]
fn syntax_errors_are_gos() {
    let invalid = |text: &str| format!("invalid character {text}");
    for (bytes, expected) in [
        ("<html>", invalid("'<' looking for beginning of value")),
        ("\u{feff}{}", invalid("'ï' looking for beginning of value")),
        ("{'a':1}", invalid(r"'\'' looking for beginning of object key string")),
        ("{\"a\":1,}", invalid("'}' looking for beginning of object key string")),
        ("{\"a\" 1}", invalid("'1' after object key")),
        ("{\"a\":1 \"b\"", invalid("'\"' after object key:value pair")),
        ("[1 2]", invalid("'2' after array element")),
        ("[1,]", invalid("']' looking for beginning of value")),
        ("[,", invalid("',' looking for beginning of value")),
        ("[\"\t\"]", invalid(r"'\t' in string literal")),
        ("[\"\u{1}\"]", invalid(r"'\x01' in string literal")),
        ("[\"\\x\"]", invalid("'x' in string escape code")),
        ("[\"\\u00g\"]", invalid(r"'g' in \u hexadecimal character escape")),
        ("-x", invalid("'x' in numeric literal")),
        ("1.x", invalid("'x' after decimal point in numeric literal")),
        ("1e+x", invalid("'x' in exponent of numeric literal")),
        ("nuLl", invalid("'L' in literal null (expecting 'l')")),
        ("[01]", invalid("'1' after array element")),
        ("\u{a0}", invalid("'Â' looking for beginning of value")),
    ] {
        assert_eq!(first_value(bytes.as_bytes()), Err(expected), "{bytes}");
    }
    for bytes in
        ["{", "[", "[1", "{\"a\"", "{\"a\":", "{\"a\":1", "\"a", "\"\\", "\"\\u0", "-", "1.", "1e", "tru"]
    {
        assert_eq!(first_value(bytes.as_bytes()), Err("unexpected EOF".to_owned()), "{bytes}");
    }
    let deep = "[".repeat(10_001);
    assert_eq!(first_value(deep.as_bytes()), Err(invalid("'[' exceeded max depth")));
}

#[test]
fn only_one_value_is_a_document() {
    for (text, expected) in [
        ("{\"a\": [1, true]}\n", None),
        ("", Some("unexpected end of JSON input")),
        ("[1", Some("unexpected end of JSON input")),
        ("ui = true", Some("invalid character 'u' looking for beginning of value")),
        ("{} x", Some("invalid character 'x' after top-level value")),
        ("01", Some("invalid character '1' after top-level value")),
    ] {
        assert_eq!(check(text.as_bytes()).err().as_deref(), expected, "{text}");
    }
}
