//! What is a path inside a repository, and what is none.

use proptest::prelude::*;

use super::{PathError, RepoPath};

fn clean(path: &str) -> String {
    RepoPath::new(path).expect("a path inside").as_str().to_owned()
}

#[test]
fn a_path_is_cleaned() {
    for (given, expected) in [
        ("", ""),
        (".", ""),
        ("./", ""),
        ("a", "a"),
        ("a/", "a"),
        ("a//", "a"),
        ("./a//b/../c", "a/c"),
        ("a/..", ""),
        ("a/../", ""),
        ("a/b/../../c/./d", "c/d"),
        ("..a/b..", "..a/b.."),
        ("...", "..."),
        ("a b/ä/日本", "a b/ä/日本"),
        ("a\\..\\b", "a\\..\\b"),
        ("\\etc\\passwd", "\\etc\\passwd"),
        ("~/x", "~/x"),
        ("a\nb", "a\nb"),
    ] {
        assert_eq!(clean(given), expected, "{given:?}");
    }
}

#[test]
fn a_path_that_leads_out_at_any_step_is_refused() {
    for path in ["..", "../a", "a/../..", "a/../../a", "./..", "a/b/../../../c"] {
        assert_eq!(RepoPath::new(path), Err(PathError::Outside { path: path.to_owned() }));
    }
}

#[test]
fn an_absolute_path_is_refused() {
    for path in ["/", "/a", "//a"] {
        assert_eq!(RepoPath::new(path), Err(PathError::Absolute { path: path.to_owned() }));
    }
}

#[test]
fn a_path_with_a_nul_byte_is_refused() {
    assert_eq!(RepoPath::new("a\0b"), Err(PathError::Nul { path: "a\0b".to_owned() }));
}

#[test]
fn a_joined_path_may_climb_but_not_leave() {
    let base = RepoPath::new("a/b").expect("inside");
    assert_eq!(base.join("../c").expect("inside").as_str(), "a/c");
    assert_eq!(base.join("").expect("inside"), base);
    assert_eq!(base.join("../..").expect("inside").as_str(), "");
    assert_eq!(base.join("../../.."), Err(PathError::Outside { path: "../../..".to_owned() }));
    assert_eq!(base.join("/c"), Err(PathError::Absolute { path: "/c".to_owned() }));
}

#[test]
fn the_root_prints_as_a_dot() {
    assert_eq!(RepoPath::default().to_string(), ".");
    assert_eq!(RepoPath::new("a/b").expect("inside").to_string(), "a/b");
}

#[test]
fn parts_of_a_path() {
    let path = RepoPath::new("a/b/c").expect("inside");
    assert_eq!(path.file_name(), Some("c"));
    assert_eq!(path.parent().map(|p| p.as_str().to_owned()), Some("a/b".to_owned()));
    assert_eq!(RepoPath::new("a").expect("inside").parent(), Some(RepoPath::default()));
    assert_eq!(RepoPath::default().parent(), None);
    assert_eq!(RepoPath::default().file_name(), None);
    assert_eq!(path.below(std::path::Path::new("/r")), std::path::Path::new("/r/a/b/c"));
    assert_eq!(RepoPath::default().below(std::path::Path::new("/r")).as_os_str(), "/r");
}

proptest! {
    #[test]
    fn a_clean_path_stays_as_it_is(path in "[a./\\\\é]{0,24}") {
        if let Ok(clean) = RepoPath::new(&path) {
            prop_assert_eq!(RepoPath::new(clean.as_str()), Ok(clean.clone()));
            prop_assert!(clean.is_root() || clean.as_str().split('/').all(|c| !matches!(c, "" | "." | "..")));
        }
    }
}
