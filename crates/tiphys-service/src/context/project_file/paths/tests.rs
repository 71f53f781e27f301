use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn directories_are_relative_to_the_current_one() {
    for (dir, current, expected) in [
        ("/repo", "/repo", ""),
        ("/repo", "/repo/a/b", "../.."),
        ("/repo/a", "/repo", "a"),
        ("/other", "/repo", "/other"),
    ] {
        assert_eq!(relative(Path::new(dir), Path::new(current)), Path::new(expected), "{dir} {current}");
    }
}

#[test]
fn paths_are_joined_to_the_directory_of_the_file() {
    for (dir, path, expected) in [
        ("", "apps", "apps"),
        ("", ".", "."),
        ("..", ".", ".."),
        ("../..", "apps", "../../apps"),
        ("..", "/etc", "/etc"),
    ] {
        assert_eq!(joined(Path::new(dir), path), Path::new(expected), "{dir} {path}");
    }
}

#[test]
fn paths_lead_out_by_their_links_too() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().canonicalize().expect("it exists");
    let top = root.join("repo");
    fs::create_dir_all(top.join("apps")).expect("a directory");
    fs::create_dir_all(root.join("other")).expect("a directory");
    symlink("../other", top.join("out")).expect("a link");
    symlink("apps", top.join("in")).expect("a link");
    for (path, expected) in [
        ("apps", false),
        ("in", false),
        ("missing/deep", false),
        ("out", true),
        ("out/missing", true),
        ("..", true),
        ("../other", true),
        ("apps/../apps", false),
        ("missing/../../other", true),
        ("/etc", true),
    ] {
        assert_eq!(leads_out(&top.join(path), &top), expected, "{path}");
    }
}
