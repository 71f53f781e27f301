use super::wrapped;

#[test]
fn description_is_wrapped_between_words_and_keeps_line_breaks() {
    let long = "x".repeat(100);
    let cases = [
        (String::new(), String::new()),
        ("one two".to_owned(), "one two\n".to_owned()),
        ("one\n\ntwo  three\n".to_owned(), "one\n\ntwo three\n".to_owned()),
        (format!("{} bb", "a".repeat(77)), format!("{} bb\n", "a".repeat(77))),
        (format!("{} bb", "a".repeat(78)), format!("{}\nbb\n", "a".repeat(78))),
        (format!("a {long} b"), format!("a\n{long}\nb\n")),
    ];
    for (text, expected) in cases {
        assert_eq!(wrapped(&text), expected, "{text:?}");
    }
}
