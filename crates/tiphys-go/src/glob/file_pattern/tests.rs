use super::{FilePattern, FilePatternError};

const PATHS: [&str; 9] = [
    "apps/a/config.json",
    "apps/b/config.json",
    "apps/b/deep/config.json",
    "apps/config.json",
    "config.json",
    "x[1].yaml",
    "x1.yaml",
    "a-b.yaml",
    "apps/a/é.yaml",
];

fn matching(pattern: &FilePattern) -> Vec<&'static str> {
    PATHS.into_iter().filter(|path| pattern.matches(path)).collect()
}

// The expected paths were listed by `git ls-files -- PATTERN` (git 2.39).
#[test]
fn patterns_of_git_match_as_git_lists() {
    for (pattern, expected) in [
        ("apps/*/config.json", vec![PATHS[0], PATHS[1], PATHS[2]]),
        ("**/config.json", vec![PATHS[0], PATHS[1], PATHS[2], PATHS[3]]),
        ("*config.json", vec![PATHS[0], PATHS[1], PATHS[2], PATHS[3], PATHS[4]]),
        ("apps/b", vec![PATHS[1], PATHS[2]]),
        ("apps/b/", vec![PATHS[1], PATHS[2]]),
        ("./apps/b", vec![PATHS[1], PATHS[2]]),
        ("apps", vec![PATHS[0], PATHS[1], PATHS[2], PATHS[3], PATHS[8]]),
        ("app", vec![]),
        ("apps/?/config.json", vec![PATHS[0], PATHS[1]]),
        ("apps?config.json", vec![PATHS[3]]),
        ("x[1].yaml", vec![PATHS[5], PATHS[6]]),
        ("x\\[1].yaml", vec![PATHS[5]]),
        ("apps/[!a]/config.json", vec![PATHS[1]]),
        ("apps/[[:alpha:]]/config.json", vec![PATHS[0], PATHS[1]]),
        ("x[0-9].yaml", vec![PATHS[6]]),
        ("a[-]b.yaml", vec![PATHS[7]]),
        ("x[", vec![]),
        ("{apps,x}/config.json", vec![]),
        ("apps/a/?.yaml", vec![]),
        ("apps/a/??.yaml", vec![PATHS[8]]),
    ] {
        assert_eq!(matching(&FilePattern::of_git(pattern).unwrap()), expected, "{pattern}");
    }
}

#[test]
fn patterns_with_double_stars_match_parts() {
    for (pattern, expected) in [
        ("apps/*/config.json", vec![PATHS[0], PATHS[1]]),
        ("**/config.json", vec![PATHS[0], PATHS[1], PATHS[2], PATHS[3], PATHS[4]]),
        ("apps/**", vec![PATHS[0], PATHS[1], PATHS[2], PATHS[3], PATHS[8]]),
        ("apps/**/config.json", vec![PATHS[0], PATHS[1], PATHS[2], PATHS[3]]),
        ("apps/{a,b}/config.json", vec![PATHS[0], PATHS[1]]),
        ("*config.json", vec![PATHS[4]]),
        ("apps/b", vec![]),
        ("apps/[!a]/config.json", vec![PATHS[1]]),
        ("apps?config.json", vec![]),
        ("apps/a/?.yaml", vec![PATHS[8]]),
    ] {
        assert_eq!(matching(&FilePattern::with_double_star(pattern).unwrap()), expected, "{pattern}");
    }
}

#[test]
fn patterns_outside_of_the_repository_are_refused() {
    let outside = |pattern: &str| FilePatternError::Outside(pattern.to_owned());
    for (pattern, expected) in [
        ("/etc/*", outside("/etc/*")),
        ("a/../../b", outside("a/../../b")),
        (":(icase)x", FilePatternError::Magic(":(icase)x".to_owned())),
    ] {
        assert_eq!(FilePattern::of_git(pattern).unwrap_err(), expected);
    }
}
