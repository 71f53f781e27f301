use super::*;

#[test]
fn strings_are_quoted_as_go_does() {
    let cases = [
        ("", "\"\""),
        ("a'b\"c\\", "\"a'b\\\"c\\\\\""),
        ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#),
        ("\u{0}\u{1f}\u{7f}", r#""\x00\x1f\x7f""#),
        ("\u{85}\u{a0}\u{200b}\u{e000}\u{feff}", r#""\u0085\u00a0\u200b\ue000\ufeff""#),
        ("\u{e0001}", r#""\U000e0001""#),
        ("\u{301}é日😀", "\"\u{301}é日😀\""),
    ];
    for (text, expected) in cases {
        assert_eq!(quote(text), expected);
    }
}
