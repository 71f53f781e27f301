use super::{Glob, GlobError, Slash};

#[test]
fn patterns_match_whole_relative_paths() {
    let cases = [
        ("*.yaml", "a.yaml", true),
        ("*.yaml", "sub/a.yaml", true),
        ("*.yaml", "a.yml", false),
        ("{*.yml,*.yaml}", "a.yml", true),
        ("{config.json,env-usw2/*}", "config.json", true),
        ("{config.json,env-usw2/*}", "env-usw2/deep/x.yaml", true),
        ("{config.json,env-usw2/*}", "env-use2/x.yaml", false),
        ("**/secret?.yaml", "a/secret1.yaml", true),
        ("**/secret?.yaml", "a/secret12.yaml", false),
        ("[ab].yaml", "b.yaml", true),
        ("[!ab].yaml", "b.yaml", false),
        ("[a-c]x", "bx", true),
        ("a*b*c", "aXbYbZc", true),
        ("a*b*c", "aXbY", false),
        ("\\*.yaml", "*.yaml", true),
        ("\\*.yaml", "a.yaml", false),
        ("{a,b{c,d}}e", "bde", true),
        ("{a,b{c,d}}e", "be", false),
        ("{a,}b", "b", true),
        ("a,b", "a,b", true),
        ("日*", "日本.yaml", true),
        ("[\\]a]x", "]x", true),
        ("[\\]a]x", "\\x", false),
        ("[!\\]]", "]", false),
        ("[]-a]", "^", true),
        ("a\\\\", "a\\", true),
        ("a*a", "a", false),
        ("kube-*-system", "kube-system", false),
        ("a?", "a", false),
        ("{team-*,default}-dev", "team-a-dev", true),
        ("", "", true),
        ("", "a", false),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(
            Glob::new(pattern, Slash::Ordinary).unwrap().matches(text),
            expected,
            "{pattern:?} on {text:?}"
        );
    }
}

#[test]
fn single_star_does_not_match_separator() {
    let cases = [
        ("https://git/*", "https://git/a", true),
        ("https://git/*", "https://git/a/b", false),
        ("https://git/**", "https://git/a/b", true),
        ("https://git/*/b", "https://git/a/b", true),
        ("https://git/**/b", "https://git/x/y/b", true),
        ("*//git/*", "https://git/a", true),
        ("a?b", "a/b", false),
        ("a?b", "axb", true),
        ("a[!x]b", "a/b", true),
        ("*a*b", "xaxxab", true),
        ("**a*b", "x/a/ab", true),
    ];
    for (pattern, text, expected) in cases {
        let glob = Glob::new(pattern, Slash::Separator).unwrap();
        assert_eq!(glob.matches(text), expected, "{pattern:?} on {text:?}");
    }
}

#[test]
fn invalid_patterns_are_rejected() {
    let class = |pattern: &str| GlobError::Class { pattern: pattern.to_owned() };
    let escape = |pattern: &str| GlobError::Escape { pattern: pattern.to_owned() };
    let cases = [
        ("[", class("[")),
        ("[]", class("[]")),
        ("[b-a]", class("[b-a]")),
        ("[ab", class("[ab")),
        ("[a\\]", class("[a\\]")),
        ("[a-cx]", class("[a-cx]")),
        ("{a", GlobError::Brace { pattern: "{a".to_owned() }),
        ("{a,b\\}", GlobError::Brace { pattern: "{a,b\\}".to_owned() }),
        ("\\", escape("\\")),
        ("a\\", escape("a\\")),
        ("a\\\\\\", escape("a\\\\\\")),
        ("{a,b\\", escape("{a,b\\")),
    ];
    for (pattern, expected) in cases {
        assert_eq!(Glob::new(pattern, Slash::Ordinary), Err(expected));
    }
    assert_eq!(Glob::new(&"{".repeat(100_000), Slash::Ordinary), Err(GlobError::TooLong { bytes: 100_000 }));
    let many = "{a,b}".repeat(10);
    assert_eq!(Glob::new(&many, Slash::Ordinary), Err(GlobError::TooMany { pattern: many.clone() }));
}

#[test]
fn pattern_matches_its_example() {
    for (pattern, expected) in [
        ("team-*", Some("team-a")),
        ("{x,y}-?", Some("x-a")),
        ("[c-d][!a-c]**", Some("cda")),
        ("[!a-z]", None),
        ("", Some("")),
    ] {
        let glob = Glob::new(pattern, Slash::Separator).unwrap();
        let example = glob.example();
        assert_eq!(example.as_deref(), expected, "{pattern:?}");
        assert!(example.is_none_or(|example| glob.matches(&example)), "{pattern:?}");
    }
}
