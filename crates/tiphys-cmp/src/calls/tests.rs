use super::{clamped, inside};

/// A path, its result for calls that reject paths outside the tree, and its result for the call that clamps them.
const PATHS: [(&str, Option<&str>, &str); 9] = [
    (".", Some(""), ""),
    ("", Some(""), ""),
    ("a/b", Some("a/b"), "a/b"),
    ("./a//b/../c", Some("a/c"), "a/c"),
    ("/a", Some("a"), "a"),
    ("..", None, ""),
    ("a/../../b", None, "b"),
    ("../../../etc", None, "etc"),
    ("//..//a", None, "a"),
];

#[test]
fn application_path_stays_in_the_tree() {
    for (path, expected, expected_clamped) in PATHS {
        let found = inside(path).ok();
        assert_eq!(found.as_ref().map(tiphys_tree::RepoPath::as_str), expected, "{path:?}");
        assert_eq!(clamped(path).expect("a path").as_str(), expected_clamped, "{path:?}");
    }
    for refused in [inside("a\0b"), inside("../a"), clamped("a\0b")] {
        assert_eq!(refused.expect_err("refused").message(), "illegal appPath: out of workDir bound");
    }
}
