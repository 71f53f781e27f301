use std::fs;
use std::path::Path;

use super::{holds, write};

/// A tree that is an hour old, so that every change has another time, and its seal.
fn sealed(dir: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let (tree, seal) = (dir.join("tree"), dir.join("seal"));
    fs::create_dir_all(tree.join("a/b c")).expect("made");
    fs::create_dir_all(tree.join("empty")).expect("made");
    fs::write(tree.join("a/b c/file"), "x").expect("written");
    fs::write(tree.join("top"), "x").expect("written");
    write(&tree, &seal).expect("sealed");
    (tree, seal)
}

#[test]
fn unchanged_tree_matches_its_seal_after_reads() {
    let dir = tempfile::tempdir().expect("a folder");
    let (tree, seal) = sealed(dir.path());
    assert!(holds(&tree, &seal));
    fs::read_to_string(tree.join("top")).expect("read");
    assert!(holds(&tree, &seal));
}

#[test]
fn added_removed_and_renamed_entries_are_detected() {
    type Change = (&'static str, fn(&Path));
    let changes: [Change; 6] = [
        ("a file removed", |tree| fs::remove_file(tree.join("a/b c/file")).expect("removed")),
        ("a folder removed", |tree| fs::remove_dir_all(tree.join("a")).expect("removed")),
        ("an empty folder removed", |tree| fs::remove_dir(tree.join("empty")).expect("removed")),
        ("a file added", |tree| fs::write(tree.join("empty/new"), "").expect("written")),
        ("a file renamed", |tree| fs::rename(tree.join("top"), tree.join("other")).expect("renamed")),
        ("all removed", |tree| fs::remove_dir_all(tree).expect("removed")),
    ];
    for (what, change) in changes {
        let dir = tempfile::tempdir().expect("a folder");
        let (tree, seal) = sealed(dir.path());
        change(&tree);
        assert!(!holds(&tree, &seal), "{what}");
    }
}

#[test]
fn missing_or_empty_seal_matches_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let (tree, seal) = sealed(dir.path());
    fs::write(&seal, "").expect("written");
    assert!(!holds(&tree, &seal));
    fs::remove_file(&seal).expect("removed");
    assert!(!holds(&tree, &seal));
}
