use tiphys_tree::RepoPath;

use super::{TreeScope, below};

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("the path stays inside")
}

#[test]
fn a_scope_has_the_applications_own_path_and_none_inside_another() {
    let app = path("apps/a");
    for (only, expected) in [
        (vec![], Some(vec!["apps/a"])),
        (vec!["apps/a", "apps/b"], Some(vec!["apps/a", "apps/b"])),
        (vec!["lib", "lib/deep", "lib-x", "lib"], Some(vec!["apps/a", "lib", "lib-x"])),
        (vec!["apps"], Some(vec!["apps"])),
        (vec!["apps/ab", "apps/a/sub"], Some(vec!["apps/a", "apps/ab"])),
        (vec!["lib", ""], None),
    ] {
        let paths = TreeScope::Only(only.iter().copied().map(path).collect()).paths(&app);
        let paths = paths.as_ref().map(|paths| paths.iter().map(RepoPath::as_str).collect::<Vec<_>>());
        assert_eq!(paths, expected, "{only:?}");
    }
    assert_eq!(TreeScope::Whole.paths(&app), None);
    let exactly = TreeScope::Exactly(vec![path("lib/deep"), path("lib")]).paths(&app);
    assert_eq!(exactly, Some(vec![path("lib")]));
}

#[test]
fn a_path_is_below_itself_and_its_directories() {
    for (directory, inner, rest) in [
        ("", "a/b", Some("a/b")),
        ("a", "a", Some("")),
        ("a", "a/b/c", Some("b/c")),
        ("a", "ab", None),
        ("a/b", "a", None),
    ] {
        assert_eq!(below(&path(directory), &path(inner)), rest, "{inner} below {directory}");
    }
}
