//! The files of a checkout.

use super::*;

fn git(root: &Path, arguments: &[&str]) {
    let status = program("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@example.org"])
        .args(arguments)
        .current_dir(root)
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}

#[test]
fn checkout_has_new_files_but_no_ignored_or_deleted_ones() {
    let root = tempfile::tempdir().unwrap();
    git(root.path(), &["init", "--quiet"]);
    fs::create_dir_all(root.path().join("sub")).unwrap();
    for (name, text) in [(".gitignore", "*.log\n"), ("kept.md", ""), ("gone.md", ""), ("sub/ä b.md", "")] {
        fs::write(root.path().join(name), text).unwrap();
    }
    git(root.path(), &["add", "."]);
    git(root.path(), &["commit", "--quiet", "--message", "first"]);
    fs::remove_file(root.path().join("gone.md")).unwrap();
    fs::write(root.path().join("new.md"), "new").unwrap();
    fs::write(root.path().join("x.log"), "").unwrap();

    let tree = Tree::of_checkout(root.path()).unwrap();
    assert_eq!(tree.paths().collect::<Vec<_>>(), [".gitignore", "kept.md", "new.md", "sub/ä b.md"]);
    assert_eq!(tree.text("new.md").unwrap().as_deref(), Some("new"));
    assert!(tree.has("sub") && tree.has("kept.md") && !tree.has("gone.md") && !tree.has("su"));
}

#[test]
fn directory_without_a_checkout_is_a_failure() {
    let root = tempfile::tempdir().unwrap();
    let failure = Tree::of_checkout(root.path()).map(|tree| tree.paths().count()).unwrap_err().to_string();
    assert!(failure.contains("git ls-files"), "{failure}");
}

#[test]
fn non_utf8_file_has_no_text() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("x.bin"), [0xff, 0xfe]).unwrap();
    let tree = Tree::new(root.path(), vec!["x.bin".to_owned()]);
    assert_eq!(tree.text("x.bin").unwrap(), None);
}

#[test]
fn paths_are_normalised_and_do_not_lead_out() {
    for (path, expected) in [
        ("a/./b//c", Some("a/b/c")),
        ("a/../b", Some("b")),
        ("/a", Some("a")),
        ("..", None),
        ("a/../../b", None),
        ("", Some("")),
    ] {
        assert_eq!(normalise(path).as_deref(), expected, "{path:?}");
    }
}
