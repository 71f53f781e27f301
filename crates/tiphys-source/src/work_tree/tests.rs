//! Where paths lie.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::WorkTreePath;

/// Two work trees beside each other, one of them with another one in it, and links that lead into and out of them.
fn folders() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| dir.path().join(name);
    for folder in ["a/.git", "a/plugins/x", "a/inner/.git", "a/inner/deep", "b/.git", "plain"] {
        fs::create_dir_all(path(folder)).expect("the folder can be made");
    }
    // A linked work tree, and a submodule, have a file.
    fs::create_dir(path("linked")).expect("the folder can be made");
    fs::write(path("linked/.git"), "gitdir: elsewhere").expect("the file can be written");
    for (link, target) in [
        ("into", "a/plugins"),
        ("within", "a/inner"),
        ("a/out", "../plain"),
        ("a/over", "../b"),
        ("a/near", "plugins"),
        ("nowhere", "gone"),
        ("through", "./a/over"),
        ("a/loop", "loop"),
    ] {
        symlink(target, path(link)).expect("the link can be made");
    }
    dir
}

/// `top: path` of each work tree, with `$DIR` for the folder.
fn found(dir: &Path, path: &str) -> Vec<String> {
    let found = WorkTreePath::find(&dir.join(path)).expect("it is UTF-8");
    let top = |place: &WorkTreePath| place.top.strip_prefix(dir).expect("it is below").display().to_string();
    found.iter().map(|place| format!("{}: {}", top(place), place.path)).collect()
}

#[test]
fn a_path_lies_in_every_work_tree_on_its_way() {
    let folders = folders();
    let dir = folders.path().canonicalize().expect("it is there");
    for (path, expected) in [
        ("plain", &[][..]),
        ("a", &["a: ."]),
        ("a/plugins/x", &["a: plugins/x"]),
        ("a/plugins/../plugins/./x", &["a: plugins/x"]),
        ("a/inner", &["a: inner", "a/inner: ."]),
        ("a/inner/deep", &["a: inner/deep", "a/inner: deep"]),
        ("linked/apps", &["linked: apps"]),
        // A path that does not exist now may have existed.
        ("a/gone/deep", &["a: gone/deep"]),
        ("plain/gone", &[]),
        ("nowhere/x", &[]),
        // A path that leaves a work tree again is not in it.
        ("a/../plain", &[]),
        ("a/plugins/../../b", &["b: ."]),
        ("a/inner/../plugins", &["a: plugins"]),
        // A link is followed; within a work tree what another commit may have there counts.
        ("into/x", &["a: plugins/x"]),
        ("within/x", &["a: inner/x", "a/inner: x"]),
        ("a/near/x", &["a: near/x"]),
        ("a/out", &["a: out"]),
        ("a/over/x", &["a: over/x", "b: x"]),
        ("through/x", &["a: over/x", "b: x"]),
        ("through", &["a: over", "b: ."]),
        ("a/loop/x", &["a: loop/x"]),
    ] {
        assert_eq!(found(&dir, path), expected, "{path}");
    }
}
