//! Entries that a writer creates or rejects.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::{Naming, TreeLimits, TreeWriter};
use crate::RepoPath;
use crate::WriteError;

const LIMITS: TreeLimits = TreeLimits { entries_max: 100, bytes_max: 1000 };

fn writer(limits: TreeLimits) -> (TempDir, TreeWriter) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let writer = TreeWriter::new(dir.path().join("tree"), limits, Naming::Given).expect("a new directory");
    (dir, writer)
}

fn path(path: &str) -> RepoPath {
    RepoPath::new(path).expect("a path inside")
}

fn clash(answer: &Result<(), WriteError>) -> Option<&str> {
    match answer {
        Err(WriteError::Clash { path }) => Some(path),
        _ => None,
    }
}

#[test]
fn entries_are_created_with_their_parents() {
    let (dir, writer) = writer(LIMITS);
    writer.file(path("a/b/file"), false, b"text").expect("written");
    writer.file_from(path("a/b/script"), true, &mut &b"#!"[..]).expect("written");
    writer.directory(path("a/empty")).expect("made");
    writer.directory(path("a")).expect("a directory may be there");
    writer.directory(RepoPath::default()).expect("so may the root");
    writer.link(path("l/link"), "../a/b").expect("made");
    writer.finish().expect("all inside");
    let mode = |name: &str| {
        fs::metadata(dir.path().join("tree").join(name)).expect("an entry").permissions().mode() & 0o7777
    };
    assert_eq!(fs::read(dir.path().join("tree/l/link/file")).expect("the file"), b"text");
    assert_eq!(fs::read(dir.path().join("tree/a/b/script")).expect("the file"), b"#!");
    let modes = ["a", "a/b", "a/empty", "a/b/file", "a/b/script"].map(mode);
    assert_eq!(modes, [0o755, 0o755, 0o755, 0o644, 0o755]);
}

#[test]
fn entry_clashes_with_another_of_its_path() {
    let (_dir, writer) = writer(LIMITS);
    writer.file(path("a"), false, b"").expect("written");
    writer.directory(path("d")).expect("made");
    writer.link(path("l"), "d").expect("made");
    assert_eq!(clash(&writer.file(path("a"), false, b"")), Some("a"));
    assert_eq!(clash(&writer.file(path("d"), false, b"")), Some("d"));
    assert_eq!(clash(&writer.file(path("l"), false, b"")), Some("l"));
    assert_eq!(clash(&writer.link(path("a"), "d")), Some("a"));
    assert_eq!(clash(&writer.link(path("d"), "a")), Some("d"));
    assert_eq!(clash(&writer.directory(path("a"))), Some("a"));
    assert_eq!(clash(&writer.directory(path("l"))), Some("l"));
    assert_eq!(clash(&writer.file(path("a/b"), false, b"")), Some("a"));
    assert_eq!(clash(&writer.file(RepoPath::default(), false, b"")), Some("."));
}

#[test]
fn nothing_is_written_through_a_link() {
    let (dir, writer) = writer(LIMITS);
    writer.directory(path("d")).expect("made");
    writer.link(path("l"), "d").expect("made");
    assert_eq!(clash(&writer.file(path("l/file"), false, b"")), Some("l"));
    assert_eq!(clash(&writer.directory(path("l/e"))), Some("l"));
    assert_eq!(clash(&writer.link(path("l/k"), "x")), Some("l"));
    assert_eq!(fs::read_dir(dir.path().join("tree/d")).expect("the folder").count(), 0);
}

#[test]
fn absolute_link_is_rejected_before_creation() {
    let (dir, writer) = writer(LIMITS);
    let error = writer.link(path("d/l"), "/etc").expect_err("absolute");
    assert_eq!(error.to_string(), "repository contains out-of-bounds symlinks. file: d/l");
    assert_eq!(fs::read_dir(dir.path().join("tree")).expect("the folder").count(), 0);
}

#[test]
fn link_that_leaves_the_tree_is_rejected() {
    for target in ["../..", "../../d", "x/../../../d", "../a/../../b"] {
        let (_dir, writer) = writer(LIMITS);
        let answer = writer.link(path("d/l"), target);
        assert!(matches!(answer, Err(WriteError::LinkOutside { file }) if file == "d/l"), "{target}");
    }
}

#[test]
fn indirect_link_out_is_rejected_at_the_end() {
    let (_dir, writer) = writer(LIMITS);
    writer.link(path("a/b/up"), "../..").expect("leads to the root");
    writer.link(path("a/b/out"), "up/../x").expect("inside, as it is written");
    let error = writer.finish().expect_err("the root's parent is outside");
    assert!(matches!(error, WriteError::LinkOutside { file } if file == "a/b/out"));
}

#[test]
fn broken_looping_and_root_links_are_allowed() {
    let (_dir, writer) = writer(LIMITS);
    writer.link(path("a/missing"), "../not/there").expect("made");
    writer.link(path("a/loop"), "pool").expect("made");
    writer.link(path("a/pool"), "loop").expect("made");
    writer.link(path("a/root"), "..").expect("made");
    writer.finish().expect("all inside");
}

#[test]
fn entries_above_the_limit_are_rejected() {
    let (_dir, writer) = writer(TreeLimits { entries_max: 3, ..LIMITS });
    writer.file(path("a/b/c"), false, b"").expect("three entries");
    let error = writer.link(path("a/l"), "b").expect_err("a fourth");
    assert_eq!(error.to_string(), "the tree has more than 3 entries");
}

#[test]
fn bytes_above_the_limit_are_rejected_before_writing() {
    let (dir, writer) = writer(TreeLimits { bytes_max: 10, ..LIMITS });
    writer.file(path("a"), false, b"1234567890").expect("ten bytes");
    let error = writer.file(path("b"), false, b"1").expect_err("an eleventh");
    assert_eq!(error.to_string(), "the tree has more than 10 bytes");
    assert!(!dir.path().join("tree/b").exists());
}

#[test]
fn endless_source_is_rejected() {
    let (dir, writer) = writer(TreeLimits { bytes_max: 10, ..LIMITS });
    let error = writer.file_from(path("c"), false, &mut std::io::repeat(0)).expect_err("endless");
    assert!(matches!(error, WriteError::TooManyBytes { max: 10, .. }));
    assert_eq!(fs::metadata(dir.path().join("tree/c")).expect("the file").len(), 0);
}

#[test]
fn write_error_names_the_path() {
    let (dir, writer) = writer(LIMITS);
    drop(dir);
    let error = writer.file(path("f"), false, b"").expect_err("the folder is gone");
    let WriteError::Io { path, .. } = error else { panic!("{error}") };
    assert!(path.ends_with("f"));
}
