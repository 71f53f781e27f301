//! Tests of the directory that the commands of one user share.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use super::{SharedDir, shared_dir};

/// Creates what exists at the path before.
type Make = fn(&Path) -> io::Result<()>;

fn folder(path: &Path, mode: u32) -> io::Result<()> {
    fs::create_dir(path)?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

fn link_to_folder(path: &Path) -> io::Result<()> {
    let target = path.with_file_name("target");
    folder(&target, 0o700)?;
    symlink(target, path)
}

#[test]
fn a_folder_into_which_others_may_have_put_something_is_not_this_users() {
    let cases: [(&str, Make, bool); 7] = [
        ("nothing", |_| Ok(()), true),
        ("a folder", |path| folder(path, 0o700), true),
        ("one that the group may write", |path| folder(path, 0o720), false),
        ("one that all may read", |path| folder(path, 0o704), false),
        ("a link to a folder", link_to_folder, false),
        ("a link to nothing", |path| symlink("nothing", path), false),
        ("a file", |path| fs::write(path, ""), false),
    ];
    for (what, make, expected) in cases {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let user = temporary.path().metadata().expect("it is there").uid();
        let path = temporary.path().join(format!("tiphys-trees-{user}"));
        make(&path).expect("it can be made");
        let found = shared_dir(temporary.path(), user).expect("it can be looked at");
        assert_eq!(
            found,
            if expected { SharedDir::Private(path.clone()) } else { SharedDir::Unusable(path.clone()) },
            "{what}"
        );
        if expected {
            assert_eq!(path.metadata().expect("it is there").mode() & 0o777, 0o700, "{what}");
        }
        // It belongs to another user than this one.
        let other = user.wrapping_add(1);
        let path = temporary.path().join(format!("tiphys-trees-{other}"));
        assert_eq!(
            shared_dir(temporary.path(), other).expect("it can be looked at"),
            SharedDir::Unusable(path),
            "{what}"
        );
    }
}

#[test]
fn where_no_folder_can_be_made_is_an_error() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let error = shared_dir(&temporary.path().join("none"), 0).expect_err("nothing is there");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}
