use super::{NotText, Posted};

#[test]
fn form_is_decoded_as_browsers_encode_it() {
    let posted =
        Posted::parse(b"%2Fa=++x%26y%3Dz&b=%0D%0Ac%0D&%C3%BC=1%2B1&empty=&flag&a=1&a=2&").expect("a form");
    let expected = [
        ("/a", "  x&y=z"),
        ("b", "\nc\n"),
        ("ü", "1+1"),
        ("empty", ""),
        ("flag", ""),
        ("a", "1"),
        ("a", "2"),
    ];
    let pairs: Vec<(&str, &str)> =
        posted.pairs().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(pairs, expected);
    assert_eq!((posted.get("a"), posted.get("none")), (Some("2"), None));
}

#[test]
fn non_utf8_is_rejected() {
    assert_eq!(Posted::parse(b"a=%FF"), Err(NotText));
    assert_eq!(Posted::parse(b"%FF=a"), Err(NotText));
}
