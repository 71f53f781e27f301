use super::{NotANumber, is_word, quoted_characters, whole_number};

#[test]
fn characters_are_quoted_individually() {
    assert_eq!(quoted_characters(",b"), "[',' 'b']");
    assert_eq!(quoted_characters("'\"\t"), r#"['\'' '"' '\t']"#);
    assert_eq!(quoted_characters(""), "[]");
}

#[test]
fn integers_are_parsed_as_go_does() {
    let cases = [
        ("0", Ok(0)),
        ("+5", Ok(5)),
        ("-007", Ok(-7)),
        ("-9223372036854775808", Ok(i64::MIN)),
        ("9223372036854775807", Ok(i64::MAX)),
        ("9223372036854775808", Err(NotANumber::Range)),
        ("-9223372036854775809", Err(NotANumber::Range)),
        ("99999999999999999999x", Err(NotANumber::Range)),
        ("9999999999999999999x", Err(NotANumber::Syntax)),
        ("", Err(NotANumber::Syntax)),
        ("+", Err(NotANumber::Syntax)),
        ("--1", Err(NotANumber::Syntax)),
        ("1_0", Err(NotANumber::Syntax)),
        (" 1", Err(NotANumber::Syntax)),
        ("\u{661}", Err(NotANumber::Syntax)),
    ];
    for (text, expected) in cases {
        assert_eq!(whole_number(text), expected, "{text:?}");
    }
}

#[test]
fn case_is_folded_as_unicode_does() {
    assert!(is_word("FaLſE", "false"));
    assert!(is_word("TRUE", "true"));
    assert!(!is_word("truE ", "true"));
    assert!(!is_word("ﬁ", "fi"));
}
