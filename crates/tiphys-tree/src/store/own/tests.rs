//! The store of one process: caching, sharing, eviction and cleanup.

mod contents;
mod random;
mod removed;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

use super::contents::{FileKey, FileNumber};
use super::places::Places;
use super::{Leaving, Own};
use crate::archive::{ArchiveError, ArchiveLimits, Intake};
use crate::store::Keeping;
use crate::{Modes, ProcessStore, Store, StoreBounds, StoreOptions, StoreStats, Tree, TreeLimits};

/// A file's content, or what makes it executable, too.
type Files = BTreeMap<String, String>;

const LARGE: usize = 300_000;
/// Longer than anything that a test waits for.
const LONG: Duration = Duration::from_mins(1);
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
        Keeping::Own(own) => own.latest(),
        Keeping::Shared(_) => panic!("a store of one process"),
    }
}

fn files<const N: usize>(files: [(&str, &str); N]) -> Files {
    files.map(|(path, content)| (path.to_owned(), content.to_owned())).into()
}

/// An archive of files; the content of an executable one begins with `#!`.
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

/// Six hundred files of 800 KiB, more than one thread takes in alone, and few enough for one that makes the tree.
fn for_two_threads() -> Files {
    (0..600).map(|n| (format!("d{}/f{n}", n % 7), format!("{n:03} ").repeat(350))).collect()
}

fn intake() -> Intake<'static> {
    Intake { modes: Modes::Preserved, limits: LIMITS, stop: &|| false }
}

fn take(store: &ProcessStore, content: &Files) -> Tree {
    store.take_in(&mut &archive(content)[..], &intake()).expect("taken in")
}

/// What is in a folder and below it: files with their content.
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

/// Waits until what is changed gets another time than what was changed before: the kernel's clock for files goes in steps.
fn wait_for_another_time(dir: &Path) {
    let now = || {
        fs::write(dir.join("clock"), "").expect("written");
        fs::metadata(dir.join("clock")).and_then(|clock| clock.modified()).expect("a time")
    };
    let (before, deadline) = (now(), Instant::now() + Duration::from_secs(10));
    while now() == before {
        assert!(Instant::now() < deadline, "the clock stands still");
    }
}

fn set_back(path: &Path, time: SystemTime) {
    fs::File::open(path).and_then(|file| file.set_modified(time)).expect("the time is set");
}

fn key_of(content: &[u8], executable: bool) -> FileKey {
    FileKey { digest: *blake3::hash(content).as_bytes(), executable }
}

fn inode(tree: &Tree, path: &str) -> u64 {
    fs::metadata(tree.root().join(path)).expect("a file").ino()
}

fn mode(tree: &Tree, path: &str) -> u32 {
    fs::metadata(tree.root().join(path)).expect("a file").permissions().mode() & 0o7777
}

/// What is on the disk below the store's folder: files once for all trees, and trees.
fn on_disk(store: &Store) -> (usize, usize) {
    let own = own(store);
    own.remover.wait(LONG, &|| false);
    let session = own.session.path();
    let mut trees = 0;
    let mut numbered = 0;
    for entry in fs::read_dir(session).expect("the session").flatten() {
        if entry.path().join("tree").is_dir() {
            trees += 1;
        } else if entry.path().is_dir() {
            numbered += found(&entry.path()).len();
        }
    }
    (numbered, trees)
}

#[test]
fn known_tree_is_neither_written_nor_linked() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = files([("a/b", "text"), ("c", "text")]);
    let first = take(&store, &content);
    let touched = fs::metadata(own(&store).session.path()).expect("the session").modified().expect("a time");
    let again = take(&store, &content);
    assert_eq!(first.root(), again.root());
    assert_eq!(store.get(first.key()).expect("it is there").root(), first.root());
    assert_eq!(found(first.root()), content);
    let now = fs::metadata(own(&store).session.path()).expect("the session").modified().expect("a time");
    assert_eq!(touched, now, "no folder was made, not even for a while");
    assert_eq!(store.stats().trees, 1);
    assert_eq!(store.stats().files, 1);
}

#[test]
fn only_new_files_are_written() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let first = take(&store, &files([("a", "one"), ("b/c", "two"), ("x", "#!three")]));
    assert_eq!(on_disk(&store), (3, 1));
    let second = take(&store, &files([("a", "one"), ("d", "two"), ("b/c", "changed"), ("y", "#!three")]));
    assert_eq!(on_disk(&store), (4, 2), "one file and one tree more");
    assert_eq!(inode(&first, "a"), inode(&second, "a"));
    assert_eq!(inode(&first, "b/c"), inode(&second, "d"));
    assert_eq!(inode(&first, "x"), inode(&second, "y"));
    assert_eq!(found(&second.root().join("b")), files([("c", "changed")]));
    assert_eq!(found(&first.root().join("b")), files([("c", "two")]));
}

#[test]
fn file_with_another_mode_is_another_file() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = files([("a", "#!same")]);
    let with = take(&store, &content);
    let plain = Intake { modes: Modes::Plain, ..intake() };
    let without = store.take_in(&mut &archive(&content)[..], &plain).expect("taken in");
    assert_eq!((mode(&with, "a"), mode(&without, "a")), (0o755, 0o644));
    assert_ne!(with.key(), without.key());
}

#[test]
fn tree_name_does_not_depend_on_the_writer() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let taken = take(&store, &files([("a/b", "text"), ("c", "#!")]));
    let path = |path| crate::RepoPath::new(path).expect("a path");
    let written = store.write_by_content::<crate::StoreError>(b"", |writer| {
        writer.file(path("a/b"), false, b"text")?;
        Ok(writer.file(path("c"), true, b"#!")?)
    });
    assert_eq!(written.expect("a tree").root(), taken.root());
    assert_eq!(on_disk(&store), (2, 1), "what was written beside is gone");
}

#[test]
fn large_file_is_written_only_if_it_is_new() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let large: String = "0123456789".repeat(LARGE / 10);
    let changed = |at: usize| {
        let mut text = large.clone();
        text.replace_range(at..=at, "x");
        text
    };
    let first = take(&store, &files([("a", &large)]));
    let same = take(&store, &files([("a", &large), ("b", &large), ("c", "")]));
    assert_eq!(inode(&first, "a"), inode(&same, "b"));
    assert_eq!(on_disk(&store), (2, 2));
    // In the first piece, in a later one, and in the last byte; also when one of these is the last that came with this beginning.
    for at in [0, 140_000, LARGE - 1, 150_000] {
        let text = changed(at);
        let tree = take(&store, &files([("a", &text), ("b", &large)]));
        assert_eq!(found(tree.root()), files([("a", &text), ("b", &large)]), "{at}");
    }
    assert_eq!(on_disk(&store), (6, 6));
    let executable = take(&store, &files([("a", &format!("#!{large}"))]));
    assert_eq!(mode(&executable, "a"), 0o755);
}

#[test]
fn removed_large_file_is_written_again() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let large = "0123456789".repeat(LARGE / 10);
    drop(take(&store, &files([("a", &large), ("b", "small")])));
    for number in 0..10 {
        own(&store).places.remove(FileNumber(number));
    }
    let content = files([("a", &large), ("b", "small"), ("d", "")]);
    assert_eq!(found(take(&store, &content).root()), content);
}

#[test]
fn archive_restores_removed_and_changed_files() {
    type Change = (&'static str, fn(&Path));
    let changes: [Change; 4] = [
        ("removed", |file| fs::remove_file(file).expect("removed")),
        ("overwritten", |file| fs::write(file, "evil").expect("written")),
        ("kept from others", |file| {
            fs::set_permissions(file, fs::Permissions::from_mode(0o700)).expect("changed");
        }),
        ("made executable", |file| {
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("changed");
        }),
    ];
    let large = "0123456789".repeat(LARGE / 10);
    let content: Files = (0..40)
        .map(|n| (format!("d{}/f{n}", n % 3), format!("{n}")))
        .chain([("l".to_owned(), large)])
        .collect();
    for (what, change) in changes {
        let dir = temporary();
        let store = open(&dir, NO_BOUNDS);
        drop(take(&store, &content));
        let places = own(&store).session.path().join("0");
        for folder in fs::read_dir(places).expect("the store's files").flatten() {
            for file in fs::read_dir(folder.path()).expect("a folder").flatten() {
                change(&file.path());
            }
        }
        let mut more = content.clone();
        more.insert("new".to_owned(), "new".to_owned());
        let tree = take(&store, &more);
        assert_eq!(found(tree.root()), more, "{what}");
        for file in more.keys() {
            assert_eq!(mode(&tree, file), 0o644, "{what}: {file}");
        }
        assert_eq!(on_disk(&store), (42, 2), "{what}");
    }
}

#[test]
fn files_removed_during_intake_cause_one_failure() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = for_two_threads();
    let archive = archive(&content);
    // The first question in whose time all files are there: they are looked at no more before the tree is made of them.
    let remove = || {
        let written: Vec<FileNumber> = (1..=600).map(FileNumber).collect();
        if written.iter().all(|number| own(&store).places.is_untouched(*number)) {
            for number in written {
                own(&store).places.remove(number);
            }
        }
        false
    };
    let answer = store.take_in(&mut &archive[..], &Intake { stop: &remove, ..intake() });
    assert_eq!(
        answer.expect_err("the files are gone").to_string(),
        "cannot write d0/f0: the store was changed meanwhile; the next call creates it again"
    );
    assert_eq!(found(take(&store, &content).root()), content);
}

#[test]
fn least_recently_used_tree_is_evicted_first() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { trees_max: 2, ..NO_BOUNDS });
    let content = |name: &str| files([(name, name), ("shared", "shared")]);
    let [a, b] = ["a", "b"].map(|name| take(&store, &content(name)).key());
    drop(store.get(a));
    let c = take(&store, &content("c")).key();
    assert!(store.get(b).is_none());
    assert!(store.get(a).is_some() && store.get(c).is_some());
    let stats = store.stats();
    assert_eq!((stats.trees, stats.files, stats.evicted), (2, 3, 1));
    assert_eq!(on_disk(&store), (3, 2), "the file that others need stays");
    assert_eq!(found(take(&store, &content("b")).root()), content("b"), "it can come again");
}

#[test]
fn only_unused_trees_are_evicted() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { bytes_max: 0, ..NO_BOUNDS });
    let [a, b] = ["a", "b"].map(|name| take(&store, &files([(name, name)])));
    let second = a.clone();
    drop(a);
    assert_eq!(found(second.root()), files([("a", "a")]));
    assert_eq!(store.stats().trees, 2);
    drop(second);
    assert_eq!(store.stats().trees, 1);
    assert_eq!(on_disk(&store), (1, 1));
    drop(b);
    assert_eq!(store.stats(), StoreStats { evicted: 2, ..StoreStats::default() });
    assert_eq!(on_disk(&store), (0, 0));
}

#[test]
fn file_counts_once_and_in_blocks() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let _first = take(&store, &files([("a", "text"), ("b", "text"), ("c", &"x".repeat(5000))]));
    // Two files of one and of two blocks; three names, and a block for the root.
    let first = 3 * 4096 + 3 * 256 + 4096;
    assert_eq!(store.stats().bytes, first);
    let _second = take(&store, &files([("d/a", "text")]));
    assert_eq!(store.stats().bytes, first + 2 * 256 + 2 * 4096);
}

#[test]
fn changed_tree_is_created_again() {
    type Change = (&'static str, fn(&Path));
    let changes: [Change; 14] = [
        ("a file overwritten and its time set back", |tree| {
            let time = fs::metadata(tree.join("top")).and_then(|top| top.modified()).expect("a time");
            fs::write(tree.join("top"), "evil").expect("written");
            set_back(&tree.join("top"), time);
        }),
        ("two files exchanged and the time of their folder set back", |tree| {
            let time = fs::metadata(tree).and_then(|top| top.modified()).expect("a time");
            fs::rename(tree.join("top"), tree.join("saved")).expect("renamed");
            fs::hard_link(tree.join("a/b/file"), tree.join("top")).expect("linked");
            fs::remove_file(tree.join("saved")).expect("removed");
            set_back(tree, time);
        }),
        ("a file put in the place of another one and all times set back", |tree| {
            let time = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).expect("a time");
            let (folder, file) = (time(tree), time(&tree.join("top")));
            fs::remove_file(tree.join("top")).expect("removed");
            fs::write(tree.join("top"), "evil").expect("written");
            fs::set_permissions(tree.join("top"), fs::Permissions::from_mode(0o644)).expect("changed");
            set_back(&tree.join("top"), file);
            set_back(tree, folder);
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
        assert_eq!(
            found(take(&store, &content).root()),
            content,
            "{what}: giving back the old one is no matter"
        );
        drop(after);
        assert_eq!(on_disk(&store), (2, 1), "{what}");
        assert_eq!(store.stats().evicted, 0);
    }
}

#[test]
fn changed_file_is_not_used_in_another_tree() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let first = take(&store, &files([("a", "text")]));
    fs::write(first.root().join("a"), "evil").expect("written");
    let other = files([("a", "text"), ("b", "more")]);
    let second = take(&store, &other);
    assert_eq!(found(second.root()), other, "the archive brings the file back");
    assert_ne!(inode(&first, "a"), inode(&second, "a"));
}

#[test]
fn changed_file_with_old_mtime_is_not_used_again() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let first = take(&store, &files([("a", "text"), ("b", "more")]));
    // So that the file has its name in the store.
    own(&store).remover.wait(LONG, &|| false);
    let time = fs::metadata(first.root().join("a")).and_then(|file| file.modified()).expect("a time");
    wait_for_another_time(dir.path());
    fs::write(first.root().join("a"), "evil").expect("written");
    set_back(&first.root().join("a"), time);
    let other = files([("a", "text"), ("c", "most")]);
    assert_eq!(found(take(&store, &other).root()), other, "the archive brings the file back");
}

#[test]
fn files_without_change_times_are_not_used_later() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    store.watch_change_times(false);
    let content = files([("a", "text"), ("b", "more")]);
    let first = take(&store, &content);
    assert_eq!(store.get(first.key()).expect("the tree").root(), first.root());
    let time = fs::metadata(first.root().join("a")).and_then(|file| file.modified()).expect("a time");
    fs::write(first.root().join("a"), "evil").expect("written");
    set_back(&first.root().join("a"), time);
    store.watch_change_times(true);
    assert!(store.get(first.key()).is_none(), "nothing is known of its files");
    assert_eq!(found(take(&store, &content).root()), content);
}

/// Removing a tree changes the change times of files that others share.
#[test]
fn tree_that_shares_files_with_a_removed_one_is_untouched() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { trees_max: 2, ..NO_BOUNDS });
    let kept = take(&store, &files([("a", "text"), ("b", "more")]));
    for content in ["1", "2", "3"] {
        take(&store, &files([("a", "text"), ("n", content)]));
        own(&store).remover.wait(LONG, &|| false);
        assert_eq!(store.get(kept.key()).expect("the tree").root(), kept.root(), "{content}");
    }
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
    own(&store).remover.wait(LONG, &|| false);
    assert_eq!(on_disk(&store), (0, 0));
    let sessions = |name: &str| fs::read_dir(dir.path().join(name)).expect("the folder").count();
    assert_eq!((sessions("store"), sessions("runs")), (2, 2), "our own, and the gate");
    let own = own(&store);
    assert_eq!(fs::read_dir(own.session.path()).expect("our folder").count(), 2, "the lock and the files");
}

/// Gives some bytes, then an error.
struct Failing<'a>(&'a [u8]);

impl io::Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Ok(0) => Err(io::Error::other("the sender is gone")),
            answer => answer,
        }
    }
}

#[test]
fn failed_archive_leaves_nothing() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let mut content: Files =
        (0..400).map(|n| (format!("d{}/f{n}", n % 7), format!("{n}").repeat(40))).collect();
    content.insert("z".to_owned(), "large".repeat(LARGE / 5));
    let whole = archive(&content);
    for end in [10, whole.len() / 3, whole.len() / 2, whole.len() - 20, whole.len()] {
        let answer = store.take_in(&mut Failing(&whole[..end]), &intake());
        assert!(matches!(answer, Err(ArchiveError::Io(_))), "{answer:?}");
        let cut = store.take_in(&mut &whole[..whole.len() / 2], &intake());
        assert!(matches!(cut, Err(ArchiveError::Malformed { .. })), "{cut:?}");
        assert_eq!(store.stats(), StoreStats::default());
        assert_eq!(on_disk(&store), (0, 0));
    }
    assert_eq!(found(take(&store, &content).root()), content);
}

#[test]
fn larger_archive_is_read_by_two_threads() {
    let small = (0..100).map(|n| (format!("d{}/f{n}", n % 7), format!("{n} ").repeat(900))).collect();
    for (content, expected) in [(small, 1), (for_two_threads(), 2)] {
        let dir = temporary();
        let store = open(&dir, NO_BOUNDS);
        let threads = Mutex::new(HashSet::new());
        let stop = || {
            threads.lock().expect("no panic").insert(std::thread::current().id());
            false
        };
        let tree = store.take_in(&mut &archive(&content)[..], &Intake { stop: &stop, ..intake() });
        assert_eq!(found(tree.expect("taken in").root()), content);
        assert_eq!(threads.into_inner().expect("no panic").len(), expected);
    }
}

#[test]
fn archive_can_be_stopped_at_any_time() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = for_two_threads();
    let whole = archive(&content);
    let asked = AtomicUsize::new(0);
    let mut last = 0;
    loop {
        asked.store(0, Ordering::SeqCst);
        let stop = || asked.fetch_add(1, Ordering::SeqCst) >= last;
        match store.take_in(&mut &whole[..], &Intake { stop: &stop, ..intake() }) {
            Ok(tree) => {
                assert_eq!(found(tree.root()), content);
                break;
            }
            Err(error) => assert!(matches!(error, ArchiveError::Stopped), "{error}"),
        }
        assert_eq!(store.stats(), StoreStats::default());
        assert_eq!(on_disk(&store), (0, 0));
        last += 149;
    }
    assert!(last > 3 * 600, "reading asks, writing, and making the tree: {last}");
}

#[test]
fn concurrent_equal_archives_write_each_file_once() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = for_two_threads();
    let (whole, barrier) = (archive(&content), Barrier::new(8));
    let trees: Vec<Tree> = std::thread::scope(|scope| {
        let taking = || {
            barrier.wait();
            store.take_in(&mut &whole[..], &intake()).expect("taken in")
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(taking)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(trees.iter().all(|tree| tree.root() == trees[0].root()));
    assert_eq!(found(trees[0].root()), content);
    assert_eq!(on_disk(&store), (600, 1));
    // Each write takes a number.
    assert_eq!(own(&store).contents().fresh_number(), FileNumber(601));
}

#[test]
fn waiting_writers_take_over_after_a_failure() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content: Files = (0..300).map(|n| (format!("f{n}"), format!("{n}"))).collect();
    let whole = archive(&content);
    std::thread::scope(|scope| {
        for round in 0..6 {
            let (whole, store, content) = (&whole, &store, &content);
            scope.spawn(move || {
                for turn in 0..4 {
                    if (round + turn) % 2 == 0 {
                        let mut broken = Failing(&whole[..whole.len() - 10]);
                        assert!(store.take_in(&mut broken, &intake()).is_err());
                    } else {
                        let tree = store.take_in(&mut &whole[..], &intake()).expect("taken in");
                        assert_eq!(found(tree.root()), *content);
                    }
                }
            });
        }
    });
    assert_eq!(on_disk(&store), (300, 1));
}

#[test]
fn failed_write_fails_only_its_archive() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let own = own(&store);
    let places = own.session.path().join("0");
    let folders: Vec<PathBuf> = (0..16).map(|number| places.join(number.to_string())).collect();
    for folder in &folders {
        fs::remove_dir(folder).expect("an empty folder");
    }
    let too_long = "n".repeat(256);
    for (path, content) in [("a/b", "x".repeat(LARGE)), (&too_long, "text".to_owned())] {
        let content = files([("a/a", "text"), (path, &content)]);
        let answer = own.take_in(&own.room_in_any_case(), &mut &archive(&content)[..], &intake());
        assert_eq!(answer.expect_err("nowhere to write to").to_string(), format!("cannot write {path}"));
        assert_eq!(store.stats(), StoreStats::default());
    }
    let many = own.take_in(&own.room_in_any_case(), &mut &archive(&for_two_threads())[..], &intake());
    assert!(many.expect_err("nowhere to write to").to_string().starts_with("cannot write d"));
    assert_eq!(store.stats(), StoreStats::default());
}

#[test]
fn full_disk_evicts_unused_trees() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let used = take(&store, &files([("a", "used")]));
    drop(take(&store, &files([("b", "unused")])));
    let mut tries = 0;
    let answer = own(&store).with_room(&|| false, || {
        tries += 1;
        if tries == 1 { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(on_disk(&store)) }
    });
    assert_eq!(answer.expect("there is room now"), (1, 1), "they are gone before the second try");
    assert_eq!(found(used.root()), files([("a", "used")]));
    let full = own(&store).with_room(&|| false, || Err::<(), _>(io::ErrorKind::QuotaExceeded.into()));
    assert_eq!(full.expect_err("still full").kind(), io::ErrorKind::QuotaExceeded);
    let mut tries = 0;
    let other = own(&store).with_room(&|| false, || {
        tries += 1;
        Err::<(), _>(io::Error::from(io::ErrorKind::PermissionDenied))
    });
    assert!(other.is_err() && tries == 1, "nothing else is tried again");
}

#[test]
fn files_of_a_small_archive_are_linked_in_background() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let content = files([("a", "same"), ("b/c", "same"), ("d", "#!other"), ("e", "")]);
    let held = own(&store).remover.hold();
    // The thread has something else to do, so that names are given at once.
    let at_once = take(&store, &content);
    assert_eq!(fs::metadata(at_once.root().join("d")).expect("a file").nlink(), 2);
    drop(held);
    let other = files([("a", "new"), ("b/c", "new"), ("d", "#!other")]);
    let tree = take(&store, &other);
    assert_eq!(found(tree.root()), other);
    assert_eq!(inode(&tree, "a"), inode(&tree, "b/c"), "one file, once in a tree, too");
    assert_eq!(inode(&tree, "d"), inode(&at_once, "d"));
    assert_eq!(on_disk(&store), (4, 2));
    assert_eq!(fs::metadata(tree.root().join("a")).expect("a file").nlink(), 3, "by now it has its name");
    assert_eq!(store.get(tree.key()).expect("it is as it was made").root(), tree.root());
}

#[test]
fn memory_of_a_small_archive_is_reused() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let own = own(&store);
    for (path, why) in [("a", "a new tree"), ("a", "a known one"), ("b", "known files")] {
        drop(take(&store, &files([(path, "text")])));
        assert_eq!(own.spare.batches().len(), 1, "{why}");
    }
}

#[test]
fn files_changed_before_linking_are_not_used_again() {
    type Change = (&'static str, fn(&Path));
    let changes: [Change; 3] = [
        ("overwritten", |tree| fs::write(tree.join("a"), "evil").expect("written")),
        ("removed", |tree| fs::remove_file(tree.join("a")).expect("removed")),
        ("all of them removed", |tree| fs::remove_dir_all(tree).expect("removed")),
    ];
    for (what, change) in changes {
        let dir = temporary();
        let store = open(&dir, NO_BOUNDS);
        let content = files([("a", "text"), ("b", "more")]);
        let tree = take(&store, &content);
        assert_eq!(on_disk(&store).0, 2, "{what}: both have their names");
        change(tree.root());
        let another = own(&store).contents().fresh_number();
        let root = fs::File::open(tree.root());
        assert!(!root.is_ok_and(|root| own(&store).places.take_name(another, root, b"a")), "{what}");
        assert!(!own(&store).places.is_untouched(another), "{what}: what was named in vain is gone");
        let other = files([("a", "text"), ("c", "")]);
        assert_eq!(found(take(&store, &other).root()), other, "{what}");
    }
}

#[test]
fn file_with_too_many_links_is_copied() {
    let dir = temporary();
    let (files, tree) = (dir.path().join("files"), dir.path().join("tree"));
    fs::create_dir(&files).expect("a folder");
    fs::create_dir(&tree).expect("a folder");
    let places = Places::new(&files).expect("folders");
    places.write(FileNumber(7), key_of(b"#!text", true), b"#!text").expect("written");
    let directory = fs::File::open(&tree).expect("the folder");
    assert_eq!(places.copy(FileNumber(7), true, &directory, b"a").expect("copied"), 6);
    assert_eq!(fs::read(tree.join("a")).expect("the copy"), b"#!text");
    let metadata = fs::metadata(tree.join("a")).expect("the copy");
    assert_eq!((metadata.permissions().mode() & 0o7777, metadata.nlink()), (0o755, 1));
}

#[test]
fn failed_copy_leaves_nothing() {
    let dir = temporary();
    let (files, tree) = (dir.path().join("files"), dir.path().join("tree"));
    fs::create_dir(&files).expect("a folder");
    fs::create_dir(&tree).expect("a folder");
    let places = Places::new(&files).expect("folders");
    let directory = fs::File::open(&tree).expect("the folder");
    places.copy(FileNumber(7), false, &directory, b"a").expect_err("it is not there");
    assert_eq!(fs::read_dir(&tree).expect("the folder").count(), 0);
    places.write(FileNumber(7), key_of(b"text", false), b"text").expect("written");
    assert_eq!(places.copy(FileNumber(7), false, &directory, b"a").expect("there is nothing in the way"), 4);
}

#[test]
fn removals_above_the_queue_limit_run_in_the_caller() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { bytes_max: 0, ..NO_BOUNDS });
    for number in 0..200 {
        drop(take(&store, &files([("a", &number.to_string())])));
    }
    assert_eq!(on_disk(&store), (0, 0));
    own(&store).remover.remove(Leaving::default());
}

#[test]
fn recently_checked_tree_is_not_checked_again() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let before = Instant::now();
    let tree = take(&store, &files([("a", "text")]));
    let after = Instant::now();
    fs::write(tree.root().join("a"), "other").expect("written");
    assert!(store.get_for(tree.key(), before).is_some(), "it was made since");
    assert!(store.get_for(tree.key(), after).is_none(), "not checked since");
    let tree = take(&store, &files([("a", "text")]));
    let asked = Instant::now();
    assert!(store.get(tree.key()).is_some(), "a look at what is as it was");
    fs::write(tree.root().join("a"), "other").expect("written");
    assert!(store.get_for(tree.key(), asked).is_some(), "it was looked at since");
    assert!(store.get(tree.key()).is_none(), "who asks now has it looked at");
}

#[test]
fn check_by_two_threads_detects_one_changed_file() {
    let content: Files = (0..2000).map(|n| (format!("d{}/s/f{n}", n % 40), format!("{n}"))).collect();
    for changed in ["d0/s/f0", "d39/s/f1999", "d17/s/f1017"] {
        let dir = temporary();
        let store = open(&dir, NO_BOUNDS);
        let tree = take(&store, &content);
        assert!(store.get(tree.key()).is_some(), "nothing was changed yet");
        fs::write(tree.root().join(changed), "other").expect("written");
        assert!(store.get(tree.key()).is_none(), "{changed}");
    }
}

#[test]
fn wait_for_room_ends_at_its_maximum_or_on_stop() {
    let dir = temporary();
    let store = open(&dir, NO_BOUNDS);
    let own = own(&store);
    let held = own.remover.hold();
    let began = Instant::now();
    own.remover.wait(Duration::from_millis(20), &|| false);
    assert!(began.elapsed() >= Duration::from_millis(20), "there is something to wait for");
    let asked = AtomicUsize::new(0);
    own.remover.wait(LONG, &|| asked.fetch_add(1, Ordering::Relaxed) == 3);
    assert_eq!(asked.into_inner(), 4);
    let mut tries = 0;
    let full = own.with_room(&|| true, || {
        tries += 1;
        Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull))
    });
    assert_eq!((full.expect_err("full").kind(), tries), (io::ErrorKind::StorageFull, 1));
    drop(held);
    own.remover.wait(LONG, &|| false);
}

#[test]
fn growing_archives_are_rejected_and_leave_nothing() {
    let dir = temporary();
    let store = open(&dir, StoreBounds { bytes_max: 64 * 1024, ..NO_BOUNDS });
    let room = || store.room(0, &|| false).expect("the store is there").expect("there is room");
    let small = files([("a", "text")]);
    let large = files([("a", "y".repeat(LARGE).as_str())]);
    let many: Files = (0..100).map(|n| (format!("f{n}"), format!("{n}"))).collect();
    let folders: Files = (0..100).map(|n| (format!("d{n}/f"), "text".to_owned())).collect();
    for (what, content) in [("large", large), ("many", many), ("folders", folders)] {
        let held = take(&store, &small);
        let answer = room().take_in(&mut &archive(&content)[..], &intake());
        let error = answer.expect_err(what).to_string();
        assert!(error.contains("more than 65536 bytes"), "{error}");
        assert_eq!(on_disk(&store), (1, 1), "{what}");
        drop(held);
        let alone = room().take_in(&mut &archive(&content)[..], &intake()).expect("nothing else is in use");
        assert_eq!(found(alone.root()), content);
        assert!(
            store.room_now(0).expect("the store is there").is_none(),
            "{what}: it has more than the limit"
        );
        drop(alone);
    }
}

#[test]
fn room_is_available_after_a_tree_is_returned() {
    let dir = temporary();
    let store = &open(&dir, StoreBounds { bytes_max: 0, ..NO_BOUNDS });
    let held = take(store, &files([("a", "one")]));
    let asked = &AtomicUsize::new(0);
    let stopped = store.room(0, &|| asked.fetch_add(1, Ordering::Relaxed) > 0).expect("the store is there");
    assert!(stopped.is_none(), "a caller that ends no longer waits");
    let waits = &Barrier::new(2);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            let once = std::sync::Once::new();
            let stop = || {
                once.call_once(|| {
                    waits.wait();
                });
                false
            };
            store.room(0, &stop).expect("the store is there").expect("there is room at last")
        });
        waits.wait();
        drop(held);
        let room = waiting.join().expect("no panic");
        room.take_in(&mut &archive(&files([("b", "two")]))[..], &intake()).expect("taken in");
    });
}
