use super::NamespacePattern;

#[test]
fn expression_that_argo_cd_reads_differently_is_rejected() {
    for (pattern, expected) in [
        ("/^[[:alpha:]]+$/", Some("[")),
        ("/[a-z-[b]]/", Some("[")),
        ("/[a-z&&b]/", Some("&&")),
        ("/[a--b]/", Some("--")),
        ("/[a~~b]/", Some("~~")),
        ("/(?P<n>a)/", Some("(?P")),
        ("/a++/", Some("++")),
        ("/a{2}+/", Some("}+")),
        ("/a{,2}/", Some("{,")),
        ("/\\Qa\\E/", Some("\\Q")),
        ("/\\[[]]/", None),
        ("/[]a]/", None),
        ("/[^]a]+/", None),
        ("/[\\[a]/", None),
        ("/\\p{L}+/", None),
        ("/\\++/", None),
    ] {
        let message = NamespacePattern::new(pattern).err().map(|error| error.to_string());
        let expected =
            expected.map(|part| format!("regular expression {pattern:?}: Argo CD does not support {part:?}"));
        assert_eq!(message, expected, "{pattern}");
    }
}

#[test]
fn pattern_of_slashes_alone_is_a_glob() {
    for pattern in ["/", "//"] {
        let compiled = NamespacePattern::new(pattern).expect("a valid glob");
        assert!(!compiled.matches("team"), "{pattern}");
        assert!(compiled.matches(pattern), "{pattern}");
    }
}

#[test]
fn expression_with_too_many_steps_does_not_match() {
    let pattern = NamespacePattern::new("/^(?=(a+)+$)(a|aa)+\\1b$/").expect("a valid expression");
    assert!(!pattern.matches(&"a".repeat(60)));
}
