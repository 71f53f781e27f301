use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

#[test]
fn a_file_that_a_killed_process_left_goes_with_the_next_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["tiphys-secret-left", "other"] {
        fs::write(path(name), "KEY").expect("writes");
    }
    symlink("other", path("tiphys-secret-link")).expect("links");
    let first = create(folder.path(), b"one").expect("is made");
    let second = create(folder.path(), b"two").expect("is made");
    assert!(!path("tiphys-secret-left").exists());
    assert!(path("other").exists() && path("tiphys-secret-link").is_symlink());
    for (file, text) in [(&first, "one"), (&second, "two")] {
        assert_eq!(fs::read_to_string(file.path()).expect("reads"), text);
        assert_eq!(file.as_file().metadata().expect("is there").permissions().mode() & 0o777, 0o600);
    }
    let left = first.path().to_owned();
    drop(first);
    assert!(!left.exists() && second.path().exists());
}
