use super::*;

fn string(name: &str, value: &str) -> ResolvedParameter {
    let parameter =
        Parameter { name: name.to_owned(), string: Some(value.to_owned()), ..Parameter::default() };
    ResolvedParameter::new(parameter, false)
}

#[test]
fn resolved_parameters_follow_set_ones() {
    let one = r#"{"name":"a","string":"1"}"#;
    let cases = [
        ("null", r#"[{"name":"b","string":"x\"y"}]"#.to_owned()),
        ("", r#"[{"name":"b","string":"x\"y"}]"#.to_owned()),
        ("[]", r#"[{"name":"b","string":"x\"y"}]"#.to_owned()),
        (&format!("[{one}]"), format!(r#"[{one},{{"name":"b","string":"x\"y"}}]"#)),
    ];
    for (list, expected) in cases {
        assert_eq!(with_resolved(list, &[string("b", "x\"y")]), expected, "{list}");
    }
    assert_eq!(with_resolved("[1]", &[]), "[1]");
}

#[test]
fn variables_have_resolved_parameters() {
    let mut variables = vec![EnvVar::new(APP_PARAMETERS, "null"), EnvVar::new("PARAM_A", "1")];
    add_resolved(&mut variables, &[string("b.c", "2")]);
    let expected = [
        EnvVar::new("PARAM_A", "1"),
        EnvVar::new(APP_PARAMETERS, r#"[{"name":"b.c","string":"2"}]"#),
        EnvVar::new("PARAM_B_C", "2"),
    ];
    assert_eq!(variables, expected);
}

#[test]
fn debug_has_no_values() {
    assert_eq!(format!("{:?}", string("b", "secret")), "ResolvedParameter(\"b\")");
    assert_eq!(format!("{:?}", string("b", "secret").expose()), "Parameter(\"b\")");
    assert_eq!(format!("{:?}", EnvVar::new("A", "secret")), "EnvVar(\"A\", 6 bytes)");
}

#[test]
fn redactor_replaces_values_in_every_form() {
    let json = |value: &str| {
        let parameter =
            Parameter { name: "value.x".to_owned(), string: Some(value.to_owned()), ..Parameter::default() };
        ResolvedParameter::new(parameter, false)
    };
    let cases = [
        (string("a", "hunter2"), "bad value \"hunter2\" here", "bad value \"******\" here"),
        (string("a", "abc"), "abc is shorter than the minimum", "abc is shorter than the minimum"),
        (string("a", "one\ntwo two"), "line two two of one", "line ****** of one"),
        (json("\"qu\\\"ote\""), "got qu\"ote and \"qu\\\"ote\"", "got ****** and ******"),
        (json("{\"a\":[12345,\"text\"]}"), "12345 and text", "****** and ******"),
        (string("a", "\""), "\" stays", "\" stays"),
        (string("a", "it's a&b"), "'it'\\''s a&b'", "'******'"),
        (string("a", "it's a&b"), "'it'\"'\"'s a&b'", "'******'"),
        (string("a", "it's a&b"), "it\\'s\\ a\\&b.", "******."),
        (string("a", "it's a&b"), "?x=it%27s%20a%26b&y=it's+a%26b", "?x=******&y=******"),
        (string("a", "it's a&b"), "aXQncyBhJmI=", "******="),
        (string("a", "it's a&b"), "'it''s a&b'", "'******'"),
        (string("a", "a\\b\"<>"), r#""a\\b\"<>""#, r#""******""#),
        (string("a", "caf\u{e9} \u{1f600}"), r#""caf\u00e9 \ud83d\ude00""#, r#""******""#),
        (string("a", "x&y/z"), "/x%26y/z", "/******"),
        (json("{\"some-key\":{\"other-key\":1}}"), "some-key and other-key", "****** and ******"),
        (string("a", "a??>b??>"), "YT8_PmI_Pz4", "******"),
        (string("a", "{{ abcdefghijklmnop }}"), "function \"abcdefghijklmnop\"", "function \"******\""),
        (
            string("a", "{{ abcdefghijklmno }}"),
            "function \"abcdefghijklmno\"",
            "function \"abcdefghijklmno\"",
        ),
    ];
    for (parameter, message, expected) in cases {
        assert_eq!(ValueRedactor::new(&[parameter]).redact(message), expected);
    }
}

#[test]
fn redactor_withholds_messages_after_a_secret() {
    let parameter = Parameter { name: "a".to_owned(), string: Some("x".to_owned()), ..Parameter::default() };
    let redactor = ValueRedactor::new(&[ResolvedParameter::new(parameter, true)]);
    assert!(!redactor.redact("anything").contains("anything"));
    assert_eq!(redactor.redact(""), "");
}

#[test]
fn redactor_withholds_messages_that_are_cut() {
    let redactor = |value: &str| ValueRedactor::new(&[string("a", value)]).with_cut_mark(" left out");
    let message = "hun\n[1 byte left out]\nter2";
    assert!(redactor("hunter2").redact(message).starts_with("(withheld"));
    assert_eq!(redactor("hunter2").redact("hunter2"), "******");
    assert_eq!(ValueRedactor::default().with_cut_mark(" left out").redact(message), message);
}
