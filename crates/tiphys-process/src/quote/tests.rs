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

#[test]
fn shell_arguments_are_quoted_if_needed() {
    let cases = [
        ("https://git.example.org:8443/a_b/c-d.git@v1+x,y=/w%20x", None),
        ("", Some("''")),
        ("ext::sh -c touch% /x=/lx", Some("'ext::sh -c touch% /x=/lx'")),
        ("$(id)", Some("'$(id)'")),
        ("a;b", Some("'a;b'")),
        ("a\nb", Some("'a\nb'")),
        ("~", Some("'~'")),
        ("*", Some("'*'")),
        ("it's", Some(r"'it'\''s'")),
        ("größe", Some("'größe'")),
    ];
    for (argument, expected) in cases {
        assert_eq!(quote_argument(argument), expected.unwrap_or(argument), "{argument:?}");
    }
}

#[test]
fn terminal_and_ci_commands_are_escaped() {
    let cases = [
        // Text, line breaks, tabs, no-break spaces and emoji stay.
        ("a  b\n\tgrößer\u{a0}als 🏳️\u{200d}🌈: [x] # y ## z", None),
        ("a\u{1b}[31m\r\u{85}\u{9b}\u{7f}\0", Some(r"a\u{1b}[31m\u{d}\u{85}\u{9b}\u{7f}\u{0}")),
        ("a\u{2028}b\u{2029}c", Some(r"a\u{2028}b\u{2029}c")),
        ("\u{202e}a\u{2066}b\u{2069}\u{200f}\u{61c}", Some(r"\u{202e}a\u{2066}b\u{2069}\u{200f}\u{61c}")),
        ("::error::x\n \t::add-mask::y", Some("\\u{3a}:error::x\n \t\\u{3a}:add-mask::y")),
        ("\u{3000}::x", Some("\u{3000}\\u{3a}:x")),
        ("a ::error::x, :x, [::1]:80", None),
        ("a ##[error]b ##vso[task.setvariable]c", Some(r"a \u{23}#[error]b \u{23}#vso[task.setvariable]c")),
        ("###[x ## [y #[z", Some(r"#\u{23}#[x ## [y #[z")),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(escape_text(text), expected.unwrap_or(text), "{text:?}");
    }
}

#[test]
fn escaped_json_has_the_same_value() {
    let json = "{\n  \"a\u{202e}\": \"ß ##vso[x]\u{85}\u{2028} ::\"\n}\n";
    assert_eq!(escape_json(json), "{\n  \"a\\u202e\": \"ß \\u0023#vso[x]\\u0085\\u2028 ::\"\n}\n");
}
