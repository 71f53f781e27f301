use tiphys_tree::RepoPath;

use super::{Scope, below};

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("the path stays inside")
}

#[test]
fn the_annotation_is_read_relative_to_the_application_or_the_root() {
    let app = path("apps/a");
    for (annotation, expected) in [
        ("", None),
        (" ; ;", None),
        (".", Some(vec!["apps/a"])),
        ("../b", Some(vec!["apps/a", "apps/b"])),
        ("/lib;.", Some(vec!["apps/a", "lib"])),
        ("//lib", Some(vec!["apps/a", "lib"])),
        (" /lib/x.yaml ", Some(vec!["apps/a", "lib/x.yaml"])),
        ("/lib/*.yaml", Some(vec!["apps/a", "lib"])),
        ("sub/?", Some(vec!["apps/a"])),
        ("/lib;/lib/deep", Some(vec!["apps/a", "lib"])),
        ("/apps", Some(vec!["apps"])),
        ("/apps/ab", Some(vec!["apps/a", "apps/ab"])),
        ("/", None),
        ("/*.yaml", None),
    ] {
        let scope = Scope::from_annotation(annotation, &app).expect("it stays inside");
        let paths = scope.paths(&app);
        let paths: Option<Vec<&str>> =
            paths.as_ref().map(|paths| paths.iter().map(RepoPath::as_str).collect());
        assert_eq!(paths, expected, "{annotation:?}");
    }
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
