//! A store whose directory is removed.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{
    NO_BOUNDS, archive, files, found, intake, key, many_files, on_disk, open, own, room, take, temporary,
};

/// Removes a directory while an archive is read.
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

#[test]
fn store_with_a_removed_directory_starts_again() {
    type Removal = (&'static str, fn(&Path, &Path));
    let removals: [Removal; 3] = [
        ("all folders", |dir, _| {
            for folder in ["store", "runs"] {
                fs::remove_dir_all(dir.join(folder)).expect("removed");
            }
        }),
        ("its own", |_, session| fs::remove_dir_all(session).expect("removed")),
        ("the lock", |_, session| fs::remove_file(session.join("lock")).expect("removed")),
    ];
    let content = files([("a/b", "text"), ("c", &"x".repeat(300_000))]);
    let other = files([("d", "text")]);
    for (what, remove) in removals {
        let dir = temporary();
        let store = open(&dir, NO_BOUNDS);
        let before = take(&store, &content);
        let session = own(&store).session.get().expect("the session").path().to_path_buf();
        remove(dir.path(), &session);
        let trees = [take(&store, &content), take(&store, &other)];
        assert_eq!(
            (found(trees[0].root()), found(trees[1].root())),
            (content.clone(), other.clone()),
            "{what}"
        );
        assert!(trees.iter().all(|tree| !tree.root().starts_with(&session)), "{what}");
        assert_eq!(store.stats().trees, 2, "{what}");
        let run = store.run_dir().expect("a folder for a run");
        assert!(run.path().is_dir(), "{what}");
        drop((before, run));
        // Another process sweeps some of the directories.
        drop(open(&dir, NO_BOUNDS));
        assert_eq!(found(trees[0].root()), content, "{what}: the new folder is locked");
    }
}

#[test]
fn removed_directory_fails_only_the_current_archive() {
    let content = many_files();
    let whole = archive(&content);
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let session: PathBuf = own(&store).session.get().expect("the session").path().to_path_buf();
    let mut removing = Removing { archive: &whole, after: whole.len() / 2, place: &session };
    let error =
        room(&store).take_in(key(&content), &mut removing, &intake()).expect_err("the folder is gone");
    let expected = format!(
        "the directory {} was removed while it was written to; the next call creates it again",
        session.display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(found(take(&store, &content).root()), content);
    assert_eq!(on_disk(&store), 1);
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
    let content = files([("b", "text")]);
    let rejected = room(&store).take_in(key(&content), &mut &archive(&content)[..], &intake());
    assert_eq!(rejected.expect_err("closed").to_string(), "the store of trees is closed");
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
