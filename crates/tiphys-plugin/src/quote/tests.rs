use super::*;

#[test]
fn arguments_with_white_space_are_quoted_as_go_quotes_them() {
    let cases: &[(&[&str], &str)] = &[
        (&[], ""),
        (&["sh", "-c", "echo hi"], r#"sh -c "echo hi""#),
        (&["a", ""], r#"a """#),
        (&["it's", "\"quoted\"", "back\\slash", "$HOME"], r#"it's "quoted" back\slash $HOME"#),
        (&["a\tb\nc\rd\u{b}e\u{c}f"], r#""a\tb\nc\rd\ve\ff""#),
        (&["say \"it's\" \\ here"], r#""say \"it's\" \\ here""#),
        (&["\u{7} \u{8} \u{0} \u{1b} \u{7f}"], r#""\a \b \x00 \x1b \x7f""#),
        // White space outside ASCII makes an argument quoted and is not printable itself.
        (&["a\u{a0}b"], r#""a\u00a0b""#),
        (&["a\u{85}b"], r#""a\u0085b""#),
        (&["a\u{3000}b"], r#""a\u3000b""#),
        (&["a\u{2028}b"], r#""a\u2028b""#),
        // A zero width space is not white space, but not printable either.
        (&["a\u{200b}b"], "a\u{200b}b"),
        (&["a\u{200b} b"], r#""a\u200b b""#),
        (&["\u{ad} \u{feff}"], r#""\u00ad \ufeff""#),
        (&["\u{f0000} x"], r#""\U000f0000 x""#),
        (&["é 日本 🎉 \u{fffd}"], "\"é 日本 🎉 \u{fffd}\""),
        // Combining marks are printable, also after a blank.
        (&["e\u{301} \u{301}"], "\"e\u{301} \u{301}\""),
    ];
    for (argv, expected) in cases {
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        assert_eq!(&quote_command(&argv), expected, "{argv:?}");
    }
}
