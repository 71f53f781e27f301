use super::*;

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
