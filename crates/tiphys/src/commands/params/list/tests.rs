use super::shortened;

#[test]
fn long_value_is_shortened_with_an_ellipsis() {
    let cases = [
        ("abcdef", None, "abcdef"),
        ("abcdef", Some(6), "abcdef"),
        ("abcdefg", Some(6), "abcde…"),
        ("τῖφυς ναύς", Some(6), "τῖφυς…"),
    ];
    for (text, max, expected) in cases {
        assert_eq!(shortened(text.to_owned(), max), expected, "{text} {max:?}");
    }
}
