use super::{MalformedPattern, NamePattern, go_match};

#[test]
fn pattern_is_read_only_as_far_as_needed() {
    for (pattern, name, expected) in [
        ("*.yaml", "a.yaml", Some(true)),
        ("*.yaml", "a/b.yaml", Some(false)),
        ("a*b*c", "axxbyyc", Some(true)),
        ("[^a-c]x", "dx", Some(true)),
        ("[c-a]", "b", Some(false)),
        ("\\*", "*", Some(true)),
        ("a[", "a", None),
        ("a[", "b", None),
        ("x*[", "a", Some(false)),
        ("[]a]", "]", None),
        ("[a-]", "a", None),
        ("a\\", "a", None),
        ("日?", "日本", Some(true)),
        ("", "", Some(true)),
    ] {
        assert_eq!(go_match(pattern.as_bytes(), name.as_bytes()).ok(), expected, "{pattern:?} {name:?}");
    }
}

#[test]
fn malformed_pattern_is_rejected_even_if_no_name_reaches_it() {
    for (pattern, expected) in [
        ("", true),
        ("*", true),
        ("a[b-c]*", true),
        ("x*[", false),
        ("*a[", false),
        ("a\\", false),
        ("[]", false),
    ] {
        let answer = NamePattern::new(pattern).map(drop);
        assert_eq!(answer, if expected { Ok(()) } else { Err(MalformedPattern) }, "{pattern:?}");
    }
}
