//! The store of one process: caching, checks, eviction and cleanup.

mod random;
mod removed;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, SystemTime};

use tempfile::TempDir;
use tiphys_testkit::wait::until;

use super::Own;
use crate::archive::{ArchiveError, ArchiveLimits, Intake};
use crate::store::Keeping;
use crate::{
    Modes, ProcessStore, Room, Store, StoreBounds, StoreOptions, StoreStats, Tree, TreeKey, TreeLimits,
};

/// A file's content. An executable one begins with `#!`.
type Files = BTreeMap<String, String>;

/// Bytes of a file that is written in pieces.
const LARGE: usize = 300_000;
const NO_BOUNDS: StoreBounds = StoreBounds { bytes_max: u64::MAX, trees_max: usize::MAX };
const LIMITS: ArchiveLimits =
    ArchiveLimits { packed_bytes_max: u64::MAX, entries_max: 100_000, bytes_max: 1 << 30 };

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn open(dir: &TempDir, bounds: StoreBounds) -> ProcessStore {
    let limits = TreeLimits { entries_max: 100_000, bytes_max: 1 << 30 };
    let options = StoreOptions { dir: dir.path().join("store"), runs_dir: dir.path().join("runs"), limits };
    Store::of_this_process(options, bounds).expect("the store opens")
}

fn own(store: &Store) -> Arc<Own> {
    match &store.keeping {
        Keeping::Own(own) => Arc::clone(own),
        Keeping::Shared(_) => panic!("a store of one process"),
    }
}

fn files<const N: usize>(files: [(&str, &str); N]) -> Files {
    files.map(|(path, content)| (path.to_owned(), content.to_owned())).into()
}

fn archive(files: &Files) -> Vec<u8> {
    let fast = flate2::Compression::fast();
    let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), fast));
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(if content.starts_with("#!") { 0o755 } else { 0o644 });
        builder.append_data(&mut header, path, content.as_bytes()).expect("an entry");
    }
    builder.into_inner().and_then(flate2::write::GzEncoder::finish).expect("an archive")
}

fn intake() -> Intake<'static> {
    Intake { modes: Modes::Preserved, limits: LIMITS, stop: &|| false }
}

fn key(content: &Files) -> TreeKey {
    TreeKey::of_archive(*blake3::hash(&archive(content)).as_bytes(), Modes::Preserved)
}

fn room(store: &ProcessStore) -> Room {
    store.room(0).expect("there is room")
}

fn unpack(room: Room, content: &Files) -> Result<Tree, ArchiveError> {
    room.take_in(key(content), &mut &archive(content)[..], &intake())
}

/// Returns the tree of an archive as a server does: the one in the store, or a new one.
fn take(store: &ProcessStore, content: &Files) -> Tree {
    store.get(key(content)).unwrap_or_else(|| unpack(room(store), content).expect("unpacked"))
}

/// Files of a folder and below it, with their content.
fn found(root: &Path) -> Files {
    let mut found = Files::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below").to_str().expect("UTF-8").to_owned();
                found.insert(name, fs::read_to_string(&path).expect("a text"));
            }
        }
    }
    found
}

/// The number of trees below the store's directory.
fn on_disk(store: &Store) -> usize {
    let session = own(store).session.get().expect("the session");
    let entries = fs::read_dir(session.path()).expect("the session's directory").flatten();
    entries.filter(|entry| entry.path().is_dir()).count()
}

/// Waits until a change gets another time than earlier ones: the kernel's clock for files goes in steps.
fn wait_for_another_time(dir: &Path) {
    let now = || {
        fs::write(dir.join("clock"), "").expect("written");
        fs::metadata(dir.join("clock")).and_then(|clock| clock.modified()).expect("a time")
    };
    let before = now();
    until(|| (now() != before).then_some(()));
}

fn mtime(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|found| found.modified()).expect("a time")
}

fn set_mtime(path: &Path, time: SystemTime) {
    fs::File::open(path).and_then(|file| file.set_modified(time)).expect("the time is set");
}

fn mode(tree: &Tree, path: &str) -> u32 {
    fs::metadata(tree.root().join(path)).expect("a file").permissions().mode() & 0o7777
}

#[test]
fn known_tree_is_not_written_again() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = files([("a/b", "text"), ("c", &"large".repeat(LARGE)), ("d", "#!")]);
    let first = take(&store, &content);
    assert_eq!(found(first.root()), content);
    assert_eq!((mode(&first, "a"), mode(&first, "a/b"), mode(&first, "d")), (0o755, 0o644, 0o755));
    let session = own(&store).session.get().expect("the session");
    let touched = mtime(session.path());
    let again = take(&store, &content);
    assert_eq!(first.root(), again.root());
    assert_eq!(touched, mtime(session.path()), "no directory was created");
    let stats = store.stats();
    assert_eq!((stats.trees, stats.files), (1, 3));
}

#[test]
fn tree_of_an_archive_depends_on_bytes_and_modes() {
    let keys = [
        TreeKey::of_archive([1; 32], Modes::Plain),
        TreeKey::of_archive([1; 32], Modes::Preserved),
        TreeKey::of_archive([2; 32], Modes::Plain),
        TreeKey([1; 32]),
    ];
    for (at, key) in keys.iter().enumerate() {
        assert!(!keys[at + 1..].contains(key));
    }
}

#[test]
fn least_recently_used_tree_is_evicted_first() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { trees_max: 2, ..NO_BOUNDS });
    let content = |name: &str| files([(name, name), ("other", "other")]);
    let [a, b] = ["a", "b"].map(|name| take(&store, &content(name)).key());
    drop(store.get(a));
    let c = take(&store, &content("c")).key();
    assert!(store.get(b).is_none());
    assert!(store.get(a).is_some() && store.get(c).is_some());
    let stats = store.stats();
    assert_eq!((stats.trees, stats.files, stats.evicted), (2, 4, 1));
    assert_eq!(on_disk(&store), 2);
    assert_eq!(found(take(&store, &content("b")).root()), content("b"), "it can come again");
}

#[test]
fn only_unused_trees_are_evicted() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { trees_max: 0, ..NO_BOUNDS });
    let [a, b] = ["a", "b"].map(|name| take(&store, &files([(name, name)])));
    let second = a.clone();
    drop(a);
    assert_eq!(found(second.root()), files([("a", "a")]));
    assert_eq!(store.stats().trees, 2);
    drop(second);
    assert_eq!((store.stats().trees, on_disk(&store)), (1, 1));
    drop(b);
    assert_eq!(store.stats(), StoreStats { evicted: 2, ..StoreStats::default() });
    assert_eq!(on_disk(&store), 0);
}

#[test]
fn bytes_are_counted_in_blocks() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let _first = take(&store, &files([("a", "text"), ("b", ""), ("c", &"x".repeat(5000))]));
    // Files of one, one and two blocks; three names, and a block for the root.
    let first = 4 * 4096 + 3 * 256 + 4096;
    assert_eq!(store.stats().bytes, first);
    let _second = take(&store, &files([("d/a", "text")]));
    assert_eq!(store.stats().bytes, first + 4096 + 2 * 256 + 2 * 4096);
}

#[test]
fn changed_tree_is_created_again() {
    type Change = (&'static str, fn(&Path));
    let changes: [Change; 15] = [
        ("a file overwritten and its time set back", |tree| {
            let time = mtime(&tree.join("top"));
            fs::write(tree.join("top"), "evil").expect("written");
            set_mtime(&tree.join("top"), time);
        }),
        ("two files exchanged and the time of their folder set back", |tree| {
            let time = mtime(tree);
            fs::rename(tree.join("top"), tree.join("saved")).expect("renamed");
            fs::hard_link(tree.join("a/b/file"), tree.join("top")).expect("linked");
            fs::remove_file(tree.join("saved")).expect("removed");
            set_mtime(tree, time);
        }),
        ("a file replaced by another one and all times set back", |tree| {
            let (folder, file) = (mtime(tree), mtime(&tree.join("top")));
            fs::remove_file(tree.join("top")).expect("removed");
            fs::write(tree.join("top"), "evil").expect("written");
            fs::set_permissions(tree.join("top"), fs::Permissions::from_mode(0o644)).expect("changed");
            set_mtime(&tree.join("top"), file);
            set_mtime(tree, folder);
        }),
        ("a file overwritten", |tree| fs::write(tree.join("top"), "evil").expect("written")),
        ("a file emptied", |tree| drop(fs::File::create(tree.join("a/b/file")).expect("emptied"))),
        ("a file's mode changed", |tree| {
            fs::set_permissions(tree.join("top"), fs::Permissions::from_mode(0o600)).expect("changed");
        }),
        ("a file made executable", |tree| {
            fs::set_permissions(tree.join("top"), fs::Permissions::from_mode(0o755)).expect("changed");
        }),
        ("a program made none", |tree| {
            fs::set_permissions(tree.join("a/run"), fs::Permissions::from_mode(0o644)).expect("changed");
        }),
        ("a file removed", |tree| fs::remove_file(tree.join("a/b/file")).expect("removed")),
        ("a folder removed", |tree| fs::remove_dir_all(tree.join("a")).expect("removed")),
        ("a file added", |tree| fs::write(tree.join("a/new"), "").expect("written")),
        ("a folder added", |tree| fs::create_dir(tree.join("new")).expect("created")),
        ("a file renamed", |tree| fs::rename(tree.join("top"), tree.join("other")).expect("renamed")),
        ("the tree removed", |tree| fs::remove_dir_all(tree).expect("removed")),
        ("its folder removed", |tree| {
            fs::remove_dir_all(tree.parent().expect("its folder")).expect("removed");
        }),
    ];
    let content = files([("a/b/file", "text"), ("a/run", "#!"), ("top", "text")]);
    for (what, change) in changes {
        let dir = temporary();
        let store = open(&dir, NO_BOUNDS);
        let before = take(&store, &content);
        let key = before.key();
        wait_for_another_time(dir.path());
        assert_eq!(store.get(key).expect("the tree").root(), before.root(), "nothing was changed yet");
        change(before.root());
        assert!(store.get(key).is_none(), "{what}");
        let after = take(&store, &content);
        assert_ne!(after.root(), before.root(), "{what}");
        assert_eq!((after.key(), found(after.root())), (key, content.clone()), "{what}");
        drop(before);
        assert_eq!(found(take(&store, &content).root()), content, "{what}");
        drop(after);
        assert_eq!(on_disk(&store), 1, "{what}");
        assert_eq!(store.stats().evicted, 0);
    }
}

#[test]
fn file_changed_during_unpacking_is_detected() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = files([("a", "text"), ("b", &"large".repeat(LARGE))]);
    let session = own(&store).session.get().expect("the session").path().to_path_buf();
    let change = || {
        for entry in fs::read_dir(&session).expect("the session's directory").flatten() {
            let file = entry.path().join("tree/a");
            if fs::read(&file).is_ok_and(|content| content == b"text") {
                wait_for_another_time(dir.path());
                fs::write(file, "evil").expect("written");
            }
        }
        false
    };
    let intake = Intake { stop: &change, ..intake() };
    let tree = room(&store).take_in(key(&content), &mut &archive(&content)[..], &intake).expect("unpacked");
    assert_eq!(fs::read(tree.root().join("a")).expect("the file"), b"evil");
    assert!(store.get(tree.key()).is_none());
}

#[test]
fn recently_checked_tree_is_not_checked_again() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = files([("a", "text")]);
    let before = Instant::now();
    let tree = take(&store, &content);
    let after = Instant::now();
    fs::write(tree.root().join("a"), "other").expect("written");
    assert!(store.get_for(tree.key(), before).is_some(), "it was created since");
    assert!(store.get_for(tree.key(), after).is_none(), "not checked since");
    let tree = take(&store, &content);
    let asked = Instant::now();
    assert!(store.get(tree.key()).is_some(), "it is unchanged");
    fs::write(tree.root().join("a"), "other").expect("written");
    assert!(store.get_for(tree.key(), asked).is_some(), "it was checked since");
    assert!(store.get(tree.key()).is_none(), "a later request checks it");
}

#[test]
fn tree_outlives_its_store() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let tree = take(&store, &files([("a", "text")]));
    drop(store);
    assert_eq!(found(tree.root()), files([("a", "text")]));
    drop(tree);
    assert_eq!(fs::read_dir(dir.path().join("store")).expect("the store").count(), 1, "only the gate");
}

#[test]
fn two_stores_in_one_directory_do_not_interfere() {
    let dir = temporary();
    let (one, two) = (open(&dir, NO_BOUNDS), open(&dir, NO_BOUNDS));
    let content = files([("a", "text")]);
    let (first, second) = (take(&one, &content), take(&two, &content));
    assert_ne!(first.root(), second.root());
    drop((first, one));
    assert_eq!(found(second.root()), content);
}

#[test]
fn directories_of_a_killed_server_are_swept() {
    let dir = temporary();
    let stale = dir.path().join("store/session-killed");
    fs::create_dir_all(stale.join("3/tree/a")).expect("a folder");
    fs::write(stale.join("lock"), "").expect("a free lock");
    fs::create_dir_all(dir.path().join("runs/session-killed/1")).expect("a folder");
    let store = open(&dir, NO_BOUNDS);
    let entries = |name: &str| fs::read_dir(dir.path().join(name)).expect("the folder").count();
    assert_eq!((entries("store"), entries("runs")), (2, 2), "our own, and the gate");
    let session = own(&store).session.get().expect("the session");
    until(|| (fs::read_dir(session.path()).expect("our folder").count() == 1).then_some(()));
}

/// Returns some bytes, then an error.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Ok(0) => Err(io::Error::other("the sender is gone")),
            answer => answer,
        }
    }
}

fn many_files() -> Files {
    let small = (0..400).map(|n| (format!("d{}/f{n}", n % 7), format!("{n}").repeat(40)));
    small.chain([("z".to_owned(), "large".repeat(LARGE / 5))]).collect()
}

#[test]
fn failed_archive_leaves_nothing() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = many_files();
    let (whole, key) = (archive(&content), key(&content));
    for end in [10, whole.len() / 3, whole.len() / 2, whole.len() - 20, whole.len()] {
        let failed = room(&store).take_in(key, &mut Failing(&whole[..end]), &intake());
        assert!(matches!(failed, Err(ArchiveError::Io(_))), "{failed:?}");
        let cut = room(&store).take_in(key, &mut &whole[..whole.len() / 2], &intake());
        assert!(matches!(cut, Err(ArchiveError::Malformed { .. })), "{cut:?}");
        assert_eq!(store.stats(), StoreStats::default());
        assert_eq!(on_disk(&store), 0);
    }
    assert_eq!(found(take(&store, &content).root()), content);
}

#[test]
fn archive_can_be_stopped_at_any_time() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = many_files();
    let (whole, key) = (archive(&content), key(&content));
    let mut last = 0;
    loop {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::SeqCst) >= last;
        match room(&store).take_in(key, &mut &whole[..], &Intake { stop: &stop, ..intake() }) {
            Ok(tree) => {
                assert_eq!(found(tree.root()), content);
                break;
            }
            Err(error) => assert!(matches!(error, ArchiveError::Stopped), "{error}"),
        }
        assert_eq!((store.stats(), on_disk(&store)), (StoreStats::default(), 0));
        last += 49;
    }
    assert!(last > content.len(), "it is asked for each entry: {last}");
}

#[test]
fn failed_write_names_the_path_in_the_archive() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let too_long = "n".repeat(256);
    let answer = unpack(room(&store), &files([("a/a", "text"), (&too_long, "text")]));
    assert_eq!(answer.expect_err("no such name").to_string(), format!("cannot write {too_long}"));
    assert_eq!((store.stats(), on_disk(&store)), (StoreStats::default(), 0));
}

#[test]
fn full_disk_evicts_unused_trees() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let used = take(&store, &files([("a", "used")]));
    drop(take(&store, &files([("b", "unused")])));
    assert_eq!(on_disk(&store), 2);
    store.make_room();
    assert_eq!(on_disk(&store), 1);
    assert_eq!(found(used.root()), files([("a", "used")]));
}

#[test]
fn growing_archives_are_rejected_and_leave_nothing() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { bytes_max: 64 * 1024, ..NO_BOUNDS });
    let small = files([("a", "text")]);
    let large = files([("a", "y".repeat(LARGE).as_str())]);
    let many: Files = (0..100).map(|n| (format!("f{n}"), format!("{n}"))).collect();
    let folders: Files = (0..100).map(|n| (format!("d{n}/f"), "text".to_owned())).collect();
    for (what, content) in [("large", large), ("many", many), ("folders", folders)] {
        let held = take(&store, &small);
        let error = unpack(room(&store), &content).expect_err(what).to_string();
        assert!(error.contains("more than 65536 bytes"), "{error}");
        assert_eq!(on_disk(&store), 1, "{what}");
        drop(held);
        let alone = unpack(room(&store), &content).expect("nothing else is in use");
        assert_eq!(found(alone.root()), content);
        assert!(store.room(0).is_none(), "{what}: it has more than the limit");
        drop(alone);
        assert_eq!(on_disk(&store), 0, "{what}");
    }
}

#[test]
fn room_depends_on_trees_and_archives_in_use() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { bytes_max: 64 * 1024, ..NO_BOUNDS });
    let unused = take(&store, &files([("a", "x".repeat(40_000).as_str())]));
    assert!(store.room(30_000).is_none(), "the tree is in use");
    drop(unused);
    let first = store.room(30_000).expect("the tree can be evicted");
    assert!(store.room(40_000).is_none(), "the first announced too much");
    let second = store.room(20_000).expect("both fit");
    drop(first);
    let tree = unpack(second, &files([("b", "two")])).expect("unpacked");
    assert!(store.room(60_000).is_none() && store.room(50_000).is_some());
    drop(tree);
    assert!(store.room(u64::MAX).is_some(), "nothing else is in use");
}
