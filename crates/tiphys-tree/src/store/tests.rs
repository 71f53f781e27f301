//! The shared store: caching, sharing and cleanup.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::{Reuse, Store, StoreOptions};
use crate::{Modes, RepoPath, StoreError, TreeKey, TreeLimits, TreeWriter, WriteError};

const LIMITS: TreeLimits = TreeLimits { entries_max: 1000, bytes_max: 1 << 20 };
const KEY: TreeKey = TreeKey([7; 32]);

fn options(dir: &TempDir) -> StoreOptions {
    StoreOptions { dir: dir.path().join("store"), runs_dir: dir.path().join("runs"), limits: LIMITS }
}

fn open(dir: &TempDir) -> Store {
    Store::open(options(dir)).expect("the store opens")
}

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn path(path: &str) -> RepoPath {
    RepoPath::new(path).expect("a path inside")
}

fn one_file(content: &'static str) -> impl FnOnce(&mut TreeWriter) -> Result<(), StoreError> {
    move |writer| Ok(writer.file(path("a/b"), false, content.as_bytes())?)
}

/// The names in a folder, sorted; none if it is not there.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn tree_is_written_once_and_found_again() {
    let dir = temporary();
    let store = open(&dir);
    assert!(store.get(KEY).is_none());
    let tree = store.get_or_write(KEY, one_file("first")).expect("written");
    let again = store.get_or_write(KEY, one_file("second")).expect("found");
    assert_eq!(tree.root(), again.root());
    assert_eq!(fs::read_to_string(again.root().join("a/b")).expect("the file"), "first");
    drop(store);
    let found = open(&dir).get(KEY).expect("another process finds it");
    assert_eq!(found.key(), KEY);
    assert_eq!(fs::read_to_string(found.root().join("a/b")).expect("the file"), "first");
}

#[test]
fn failed_tree_is_not_stored() {
    let dir = temporary();
    let store = open(&dir);
    let answer = store.get_or_write(KEY, |writer| {
        writer.file(path("a"), false, b"half")?;
        Err(StoreError::OfAnotherUser { path: dir.path().to_path_buf() })
    });
    assert!(matches!(answer, Err(StoreError::OfAnotherUser { .. })));
    assert!(store.get(KEY).is_none());
    store.get_or_write(KEY, one_file("whole")).expect("the next one writes it");
}

#[test]
fn one_of_several_threads_writes_a_tree() {
    let dir = temporary();
    let store = open(&dir);
    let (fills, barrier) = (AtomicUsize::new(0), Barrier::new(8));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                let tree = store.get_or_write(KEY, |writer| {
                    fills.fetch_add(1, Ordering::SeqCst);
                    // Long enough for the others to come in, if they could.
                    for number in 0..300 {
                        writer.file(path(&format!("f{number}")), false, b"")?;
                    }
                    one_file("one")(writer)
                });
                let file = tree.expect("a tree").root().join("a/b");
                assert_eq!(fs::read_to_string(file).expect("the file"), "one");
            });
        }
    });
    assert_eq!(fills.load(Ordering::SeqCst), 1);
}

#[test]
fn failed_writer_lets_the_next_one_write() {
    let dir = temporary();
    let store = open(&dir);
    std::thread::scope(|scope| {
        let failed =
            scope.spawn(|| store.get_or_write::<StoreError>(KEY, |_| panic!("in the middle"))).join();
        assert!(failed.is_err());
    });
    store.get_or_write(KEY, one_file("x")).expect("the key is free");
}

#[test]
fn first_of_two_stores_wins() {
    let dir = temporary();
    let (one, two) = (open(&dir), open(&dir));
    let tree = one
        .get_or_write(KEY, |writer| {
            two.get_or_write(KEY, one_file("two"))?;
            one_file("one")(writer)
        })
        .expect("the other's tree");
    assert_eq!(fs::read_to_string(tree.root().join("a/b")).expect("the file"), "two");
}

/// Writes one tree.
type Fill = fn(&mut TreeWriter) -> Result<(), WriteError>;

#[test]
fn tree_name_depends_on_all_content() {
    let dir = temporary();
    let store = open(&dir);
    let mut keys = Vec::new();
    let fills: [Fill; 9] = [
        |w| w.file(path("a"), false, b"x"),
        |w| w.file(path("a"), true, b"x"),
        |w| w.file(path("a"), false, b"y"),
        |w| w.file(path("b"), false, b"x"),
        |w| w.link(path("a"), "x"),
        |w| w.directory(path("a")),
        |w| w.directory(path("a/b")),
        |w| w.file(path("a/b"), false, b"x"),
        |_| Ok(()),
    ];
    for fill in fills {
        let tree = store.write_by_content::<StoreError>(b"", |w| Ok(fill(w)?)).expect("a tree");
        let again = store.write_by_content::<StoreError>(b"", |w| Ok(fill(w)?)).expect("a tree");
        assert_eq!(tree.key(), again.key());
        keys.push(tree.key().0);
    }
    keys.push(store.write_by_content(b"salt", |_| Ok::<_, StoreError>(())).expect("a tree").key().0);
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count, "two different trees have one name");
    let tmp = dir.path().join("store/tmp");
    let sessions = names(&tmp);
    assert_eq!(sessions.len(), 1);
    assert_eq!(names(&tmp.join(&sessions[0])), ["lock"], "a tree that was known already stays behind");
}

#[test]
fn order_of_entries_does_not_change_the_name() {
    let dir = temporary();
    let store = open(&dir);
    let one = store.write_by_content::<StoreError>(b"", |w| {
        w.file(path("d/a"), false, b"x")?;
        w.file(path("b"), false, b"y")?;
        Ok(())
    });
    let two = store.write_by_content::<StoreError>(b"", |w| {
        w.file_from(path("b"), false, &mut &b"y"[..])?;
        w.directory(path("d"))?;
        w.file_from(path("d/a"), false, &mut &b"x"[..])?;
        Ok(())
    });
    assert_eq!(one.expect("a tree").key(), two.expect("a tree").key());
}

#[test]
fn executable_bit_is_ignored_without_modes() {
    let dir = temporary();
    let store = open(&dir);
    let write = |modes, executable| {
        let fill = |w: &mut TreeWriter| {
            w.set_modes(modes);
            Ok::<_, StoreError>(w.file(path("a"), executable, b"x")?)
        };
        let tree = store.write_by_content(b"", fill).expect("a tree");
        let mode = fs::metadata(tree.root().join("a")).expect("the file").permissions().mode() & 0o7777;
        (tree.key(), mode)
    };
    let plain = write(Modes::Plain, true);
    assert_eq!(plain.1, 0o644);
    assert_eq!(write(Modes::Preserved, false), plain);
    assert_eq!(write(Modes::Preserved, true).1, 0o755);
    assert_ne!(write(Modes::Preserved, true).0, plain.0);
}

#[test]
fn only_directories_of_killed_processes_are_swept() {
    let dir = temporary();
    let living = open(&dir);
    let run = living.run_dir().expect("a folder");
    let stale_tmp = dir.path().join("store/tmp/session-killed");
    let stale_run = dir.path().join("runs/session-killed");
    for stale in [&stale_tmp, &stale_run] {
        fs::create_dir_all(stale.join("0/work/work")).expect("a folder");
        fs::write(stale.join("lock"), "").expect("a free lock");
        fs::set_permissions(stale.join("0/work/work"), Permissions::from_mode(0o000))
            .expect("an overlay's odd folder");
    }
    let foreign = dir.path().join("runs/notes");
    fs::create_dir(&foreign).expect("a foreign directory");
    let second = open(&dir);
    assert!(!stale_tmp.exists() && !stale_run.exists());
    assert!(run.path().is_dir() && foreign.is_dir());
    drop(run);
    drop(living);
    drop(second);
    assert_eq!(names(&dir.path().join("store/tmp")), Vec::<String>::new());
    assert_eq!(names(&dir.path().join("runs")), ["gate", "notes"]);
}

#[test]
fn trees_of_an_earlier_boot_are_swept_unless_they_are_in_use() {
    let dir = temporary();
    let trees = dir.path().join("store/trees");
    let [old, used] = ["a", "b"].map(|digit| trees.join(digit.repeat(32)));
    for boot in [&old, &used, &trees.join("foreign")] {
        fs::create_dir_all(boot.join("0000")).expect("a folder");
    }
    fs::write(old.with_extension("lock"), "").expect("a lock");
    let other = fs::File::create(used.with_extension("lock")).expect("a lock");
    other.lock_shared().expect("locked");
    let store = open(&dir);
    let tree = store.get_or_write(KEY, one_file("x")).expect("a tree");
    assert!(!old.exists() && !old.with_extension("lock").exists());
    assert!(used.join("0000").is_dir() && trees.join("foreign/0000").is_dir());
    assert!(open(&dir).get(KEY).is_some_and(|found| found.root() == tree.root()));
}

#[test]
fn tree_is_locked_while_in_use() {
    let dir = temporary();
    let store = open(&dir);
    let tree = store.get_or_write(KEY, one_file("x")).expect("a tree");
    drop(store);
    let lock = tree.root().ancestors().nth(2).expect("trees of this boot").with_extension("lock");
    assert!(!super::session::is_unlocked(&lock));
    drop(tree);
    assert!(super::session::is_unlocked(&lock));
}

#[test]
fn run_directory_is_private_and_removed_on_drop() {
    let dir = temporary();
    let store = open(&dir);
    let run = store.run_dir().expect("a folder");
    let other = store.run_dir().expect("another folder");
    assert_ne!(run.path(), other.path());
    let place = run.path().to_path_buf();
    assert_eq!(fs::metadata(&place).expect("the folder").permissions().mode() & 0o7777, 0o700);
    let outside = dir.path().join("outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("kept"), "").expect("a file");
    fs::create_dir_all(place.join("work/work/deep")).expect("folders");
    fs::write(place.join("work/work/deep/file"), "").expect("a file");
    symlink(&outside, place.join("work/link")).expect("a link");
    fs::set_permissions(place.join("work/work/deep"), Permissions::from_mode(0o500))
        .expect("a read-only folder");
    fs::set_permissions(place.join("work/work"), Permissions::from_mode(0o000)).expect("a closed folder");
    drop(run);
    assert!(!place.exists());
    assert!(outside.join("kept").exists());
    assert_eq!(fs::metadata(&outside).expect("outside").permissions().mode() & 0o7777, 0o755);
}

#[test]
fn run_directory_outlives_its_store() {
    let dir = temporary();
    let run = open(&dir).run_dir().expect("a folder");
    assert!(run.path().is_dir());
    open(&dir);
    assert!(run.path().is_dir());
}

#[test]
fn store_error_names_the_path() {
    let dir = temporary();
    fs::write(dir.path().join("store"), "a file").expect("a file");
    let error = Store::open(options(&dir)).expect_err("a file is in the way");
    assert_eq!(error.to_string(), format!("cannot make {}", dir.path().join("store").display()));
}

#[test]
fn tree_with_a_removed_entry_is_written_again() {
    let dir = temporary();
    let store = open(&dir);
    let tree = store.get_or_write(KEY, one_file("whole")).expect("a tree");
    fs::remove_file(tree.root().join("a/b")).expect("removed");
    assert!(store.get(KEY).is_none(), "the tree is damaged");
    let again = store.get_or_write(KEY, one_file("whole")).expect("a tree");
    assert_eq!(fs::read_to_string(again.root().join("a/b")).expect("the file is back"), "whole");
    assert!(open(&dir).get(KEY).is_some(), "it can be used by others");
}

#[test]
fn each_use_of_a_tree_is_marked() {
    let dir = temporary();
    let store = open(&dir);
    let tree = store.get_or_write(KEY, one_file("text")).expect("a tree");
    let place = fs::File::open(tree.root().parent().expect("a parent")).expect("a directory");
    place.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("the time can be set");
    assert!(store.get(KEY).is_some());
    let used = place.metadata().and_then(|found| found.modified()).expect("a time");
    assert!(used > std::time::SystemTime::UNIX_EPOCH, "pruning keeps it");
}

#[test]
fn distrusting_store_writes_each_tree_once() {
    let dir = temporary();
    drop(open(&dir).get_or_write(KEY, one_file("theirs")).expect("a tree"));
    let store = open(&dir).with_reuse(Reuse::OwnTrees);
    let tree = store.get_or_write(KEY, one_file("ours")).expect("a tree");
    assert_eq!(fs::read_to_string(tree.root().join("a/b")).expect("the file"), "ours");
    let again = store.get_or_write(KEY, one_file("not written")).expect("a tree");
    assert_eq!(fs::read_to_string(again.root().join("a/b")).expect("the file"), "ours");
}

#[test]
fn only_directories_of_the_user_or_root_are_used() {
    let cases = [(1000, 1000, true), (0, 1000, true), (0, 0, true), (1000, 0, false), (1001, 1000, false)];
    for (owner, user, expected) in cases {
        assert_eq!(super::is_trusted(owner, user), expected, "{owner}'s folder, used by {user}");
    }
}
