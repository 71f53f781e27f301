//! A store whose directory is removed.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{NO_BOUNDS, archive, files, found, intake, on_disk, open, own, take, temporary};
use crate::{StoreBounds, WriteError};

/// Removes something while an archive is read.
struct Removing<'a> {
    archive: &'a [u8],
    /// Bytes behind which it is removed.
    after: usize,
    place: &'a Path,
}

impl Read for Removing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.after == 0 {
            drop(fs::remove_dir_all(self.place));
        }
        let most = if self.after == 0 { buffer.len() } else { self.after.min(buffer.len()) };
        let read = self.archive.read(&mut buffer[..most])?;
        self.after = self.after.saturating_sub(read);
        Ok(read)
    }
}

/// The folders that a store has of its own, without those for runs.
fn sessions(dir: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.path().join("store")).expect("the store's folder").flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn store_with_a_removed_directory_starts_again() {
    type Removal = (&'static str, fn(&Path, &Path));
    let removals: [Removal; 4] = [
        ("all folders", |dir, _| {
            for folder in ["store", "runs"] {
                fs::remove_dir_all(dir.join(folder)).expect("removed");
            }
        }),
        ("its own", |_, session| fs::remove_dir_all(session).expect("removed")),
        ("the lock", |_, session| fs::remove_file(session.join("lock")).expect("removed")),
        ("the folder of the files", |_, session| {
            fs::remove_dir_all(session.join("0")).expect("removed");
        }),
    ];
    let content = files([("a/b", "text"), ("c", &"x".repeat(300_000))]);
    for (what, remove) in removals {
        let dir = temporary();
        let store = open(&dir, NO_BOUNDS);
        let before = take(&store, &content);
        let session = own(&store).session.path().to_path_buf();
        remove(dir.path(), &session);
        let tree = take(&store, &content);
        assert_eq!((tree.key(), found(tree.root())), (before.key(), content.clone()), "{what}");
        assert!(!tree.root().starts_with(&session), "{what}");
        assert_eq!(store.get(tree.key()).expect("the tree").root(), tree.root(), "{what}");
        assert_eq!((on_disk(&store), store.stats().trees), ((2, 1), 1), "{what}");
        let run = store.run_dir().expect("a folder for a run");
        assert!(run.path().is_dir(), "{what}");
        drop((before, run));
        assert_eq!(sessions(&dir).len(), 1, "{what}: the old one goes with its last tree");
        // What another process sweeps, and what not.
        drop(open(&dir, NO_BOUNDS));
        assert_eq!(found(tree.root()), content, "{what}: the new folder is locked");
    }
}

#[test]
fn removed_directory_fails_only_the_current_archive() {
    let content = (0..300).map(|n| (format!("d{}/f{n}", n % 7), format!("{n:03} ").repeat(350))).collect();
    let whole = archive(&content);
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let session = own(&store).session.path().to_path_buf();
    let mut removing = Removing { archive: &whole, after: whole.len() / 2, place: &session };
    let error = store.take_in(&mut removing, &intake()).expect_err("the folder is gone");
    let expected = format!(
        "the directory {} was removed while it was written to; the next call creates it again",
        session.display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(found(take(&store, &content).root()), content);
}

#[test]
fn counters_continue_after_the_directory_was_removed() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { trees_max: 1, ..NO_BOUNDS });
    for content in ["a", "b"] {
        drop(take(&store, &files([("file", content)])));
    }
    fs::remove_dir_all(own(&store).session.path()).expect("removed");
    for content in ["a", "b"] {
        drop(take(&store, &files([("file", content)])));
    }
    assert_eq!((store.stats().evicted, store.stats().trees), (2, 1));
}

#[test]
fn file_removed_during_creation_is_reported() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let write = |kind: io::ErrorKind| WriteError::Io { path: "d/f".into(), source: kind.into() };
    let told = |kind| own(&store).explain(write(kind).into()).to_string();
    assert_eq!(
        told(io::ErrorKind::NotFound),
        "cannot write d/f: the store was changed meanwhile; the next call creates it again"
    );
    assert_eq!(told(io::ErrorKind::PermissionDenied), "cannot write d/f");
}

#[test]
fn closed_store_is_empty_and_rejects_archives() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let tree = take(&store, &files([("a", "text")]));
    let run = store.run_dir().expect("a folder");
    store.close();
    for folder in ["store", "runs"] {
        let left = fs::read_dir(dir.path().join(folder)).expect("the folder is there").flatten();
        assert_eq!(left.filter(|entry| entry.file_name() != "gate").count(), 0, "{folder}");
    }
    let refused = store.take_in(&mut &archive(&files([("b", "text")]))[..], &intake());
    assert_eq!(refused.expect_err("closed").to_string(), "the store of trees is closed");
    assert_eq!(store.run_dir().expect_err("closed").to_string(), "the store of trees is closed");
    drop((tree, run));
    drop(store);
    assert_eq!(fs::read_dir(dir.path().join("store")).expect("it stays").count(), 1, "the gate");
}

#[test]
fn tree_in_use_detects_a_removed_entry() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let tree = take(&store, &files([("a", "text"), ("d/b", "text")]));
    assert!(tree.has_its_entries(), "it is unchanged");
    fs::remove_file(tree.root().join("d/b")).expect("removed");
    assert!(!tree.has_its_entries());
}
