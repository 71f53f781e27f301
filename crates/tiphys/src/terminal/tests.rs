//! What becomes of texts that are somebody else's.

use super::{harmless, one_line, prose, without_controls};

#[test]
fn a_name_cannot_steer_the_terminal() {
    // The text; with its lines; as a name; as words; with blanks.
    let cases = [
        ("a  b", "a  b", "a  b", "a b", "a  b"),
        ("a\nb\tc", "a\nb\tc", r"a\nb\tc", "a b c", "a b c"),
        ("a\u{1b}[31m", r"a\u{1b}[31m", r"a\u{1b}[31m", r"a\u{1b}[31m", "a [31m"),
        ("\r\n a\u{85}", "\\u{d}\n a\\u{85}", r"\u{d}\n a\u{85}", r"\u{d} a\u{85}", "   a "),
        ("größer\u{a0}als", "größer\u{a0}als", "größer\u{a0}als", "größer als", "größer\u{a0}als"),
        ("\u{9b}ß🚢", r"\u{9b}ß🚢", r"\u{9b}ß🚢", r"\u{9b}ß🚢", " ß🚢"),
        ("", "", "", "", ""),
    ];
    for (text, with_lines, name, words, with_blanks) in cases {
        assert_eq!(harmless(text), with_lines, "{text:?}");
        assert_eq!(one_line(text), name, "{text:?}");
        assert_eq!(prose(text), words, "{text:?}");
        assert_eq!(without_controls(text), with_blanks, "{text:?}");
    }
}
