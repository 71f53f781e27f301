use super::{invisible_names, is_invisible, marked_html, marked_text};

#[test]
fn invisible_characters_are_marked() {
    let invisible = "\0\u{1}\r\u{1b}\u{7f}\u{85}\u{ad}\u{61c}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{202a}\u{202b}\u{202c}\u{202d}\
                     \u{202e}\u{2060}\u{2066}\u{2067}\u{2068}\u{2069}\u{feff}\u{e0041}";
    assert_eq!(invisible.chars().filter(|char| !is_invisible(*char)).count(), 0);
    let visible = "\n\t a\u{301}ß–\u{a0}\u{5d0}\u{2603}\u{fe0f}\u{10fffd}";
    assert_eq!(visible.chars().filter(|char| is_invisible(*char)).count(), 0);
    assert_eq!(marked_text("a\u{202e}b\u{feff}\n"), "a[U+202E]b[U+FEFF]\n");
    assert_eq!(invisible_names(["a\u{202e}", "\u{1}\u{202e}"]).as_deref(), Some("U+202E, U+0001"));
    assert_eq!(invisible_names(["a\n"]), None);
}

#[test]
fn values_of_fields_are_not_marked() {
    let cases = [
        ("<p>a\u{202e}b</p>", "<p>a<mark>[U+202E]</mark>b</p>"),
        ("\u{200b}", "<mark>[U+200B]</mark>"),
        ("<input name=\"\u{202e}\" value=\"\u{202e}\">", "<input name=\"\u{202e}\" value=\"\u{202e}\">"),
        ("<textarea>\u{1}</textarea>\u{1}", "<textarea>\u{1}</textarea><mark>[U+0001]</mark>"),
        ("<button title=\"\u{202e}\" value=\"\u{202e}\">", "<button title=\"[U+202E]\" value=\"\u{202e}\">"),
        (
            "<input value=\" title=\" aria-label=\"\u{202e}\">",
            "<input value=\" title=\" aria-label=\"[U+202E]\">",
        ),
        ("<option value=\"\u{202e}\">\u{202e}</option>", "<option value=\"\u{202e}\">[U+202E]</option>"),
        ("<title>\u{202e}</title>", "<title>[U+202E]</title>"),
    ];
    for (html, marked) in cases {
        assert_eq!(marked_html(html.to_owned()), marked);
    }
}
