//! Escaping of untrusted text.

use super::{message, one_line, prose, without_controls};

#[test]
fn names_cannot_control_the_terminal() {
    // The string; as a message; as a name; as prose; with blanks.
    let cases = [
        ("a  b", "a  b", "a  b", "a b", "a  b"),
        ("a\nb\tc", "a\n  b\tc", r"a\nb\tc", "a b c", "a b c"),
        ("a\u{1b}[31m", r"a\u{1b}[31m", r"a\u{1b}[31m", r"a\u{1b}[31m", "a [31m"),
        ("\r\n a\u{85}", "\\u{d}\n   a\\u{85}", r"\u{d}\n a\u{85}", r"\u{d} a\u{85}", "   a "),
        ("größer\u{a0}als", "größer\u{a0}als", "größer\u{a0}als", "größer als", "größer\u{a0}als"),
        ("\u{9b}ß🚢", r"\u{9b}ß🚢", r"\u{9b}ß🚢", r"\u{9b}ß🚢", " ß🚢"),
        ("x\u{2028}\u{202e}", r"x\u{2028}\u{202e}", r"x\u{2028}\u{202e}", r"x\u{2028}\u{202e}", "x  "),
        (
            "a\n\nerror: b\n::error::c\n",
            "a\n\n  error: b\n  \\u{3a}:error::c",
            "a\\n\\nerror: b\\n::error::c\\n",
            "a error: b \\u{3a}:error::c",
            "a  error: b ::error::c ",
        ),
        ("", "", "", "", ""),
    ];
    for (text, with_lines, name, words, with_blanks) in cases {
        assert_eq!(message(text), with_lines, "{text:?}");
        assert_eq!(one_line(text), name, "{text:?}");
        assert_eq!(prose(text), words, "{text:?}");
        assert_eq!(without_controls(text), with_blanks, "{text:?}");
    }
}
