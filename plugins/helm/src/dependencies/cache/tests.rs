//! Entries that are kept, broken, old, too many.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, Mode, mkfifoat};

use super::entry::FILE;
use super::{Age, Cache, Difference, LOCK_DIGITS, Snapshot};
use crate::dependencies::key::{BuildKey, Inputs};

/// More than the entries of these tests.
const MUCH: u64 = 1 << 20;

fn key(cache: &Cache, name: &str) -> BuildKey {
    Inputs { helm: name, chart: Path::new("/nowhere"), folders: &[], remotes: &[] }
        .key(cache.secret())
        .unwrap()
}

/// Something that happens to a packed chart of an entry.
type Break = fn(&Path) -> io::Result<()>;

/// What a build did that removed one file and wrote another of this many bytes.
fn build(charts: &Path, bytes: usize) -> Difference {
    fs::create_dir_all(charts.join("folder")).unwrap();
    fs::write(charts.join("old.tgz"), "old").unwrap();
    fs::write(charts.join("same.tgz"), "same").unwrap();
    let before = Snapshot::of(charts).unwrap();
    fs::remove_file(charts.join("old.tgz")).unwrap();
    fs::write(charts.join("new.tgz"), vec![b'x'; bytes]).unwrap();
    before.difference(&Snapshot::of(charts).unwrap())
}

fn keep(cache: &Cache, name: &str, bytes: usize) -> BuildKey {
    let charts = tempfile::tempdir().unwrap();
    let difference = build(charts.path(), bytes);
    let key = key(cache, name);
    cache.keep(&key, &difference, charts.path()).unwrap();
    cache.tidy(&key).unwrap();
    key
}

/// The names that are in a folder `charts` after an entry was restored into it.
fn restored(cache: &Cache, key: &BuildKey, age: Age) -> Option<Vec<String>> {
    let charts = tempfile::tempdir().unwrap();
    for name in ["old.tgz", "same.tgz"] {
        fs::write(charts.path().join(name), name).unwrap();
    }
    let restored = cache.restore(key, age, charts.path());
    let mut names: Vec<String> = fs::read_dir(charts.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    if !restored {
        assert_eq!(names, ["old.tgz", "same.tgz"], "nothing is changed");
    }
    restored.then_some(names)
}

fn make_old(file: &Path) -> io::Result<()> {
    let file = File::options().write(true).open(file)?;
    file.set_modified(file.metadata()?.modified()? - Duration::from_hours(24))
}

#[test]
fn an_entry_does_what_the_build_did() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("a/b"), MUCH).unwrap();
    let key = keep(&cache, "a", 10);
    let again = Cache::open(&folder.path().join("a/b"), MUCH).unwrap();
    assert_eq!(restored(&again, &key, Age::Any).unwrap(), ["new.tgz", "same.tgz"]);
    assert_eq!(restored(&again, &self::key(&again, "b"), Age::Any), None);
}

#[test]
fn an_old_entry_is_not_used_where_age_matters() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    let key = keep(&cache, "a", 10);
    let bound = Age::AtMost(Duration::from_hours(1));
    assert!(restored(&cache, &key, bound).is_some());
    make_old(&cache.entry(&key).join(FILE)).unwrap();
    assert_eq!(restored(&cache, &key, bound), None);
    assert!(restored(&cache, &key, Age::Any).is_some());
    keep(&cache, "a", 10);
    assert!(restored(&cache, &key, bound).is_some());
}

#[test]
fn a_broken_entry_is_not_used_and_kept_anew() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    let blob = |entry: &Path| {
        let mut files = fs::read_dir(entry).unwrap().map(|file| file.unwrap().path());
        files.find(|path| path.file_name().unwrap().len() == 64).unwrap()
    };
    let blob: fn(&Path) -> std::path::PathBuf = blob;
    assert!(blob(&cache.entry(&keep(&cache, "a", 10))).exists());
    let breaks: [Break; 5] = [
        |file| fs::write(file, "short"),
        |file| fs::remove_file(file),
        |file| fs::write(file.with_file_name(FILE), "{"),
        |file| fs::write(file.with_file_name(FILE), r#"{"written":{"../x":"y"},"removed":[]}"#),
        |file| fs::remove_file(file.with_file_name(FILE)),
    ];
    for broken in breaks {
        let key = keep(&cache, "a", 10);
        broken(&blob(&cache.entry(&key))).unwrap();
        assert_eq!(restored(&cache, &key, Age::Any), None);
    }
    let key = keep(&cache, "a", 10);
    assert!(restored(&cache, &key, Age::Any).is_some());
}

#[test]
fn what_was_not_used_for_the_longest_time_goes_first_and_the_new_entry_stays() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), 2_500).unwrap();
    let [first, second] = ["first", "second"].map(|name| keep(&cache, name, 1_000));
    make_old(&cache.entry(&second).join("used")).unwrap();
    let third = keep(&cache, "third", 1_000);
    let there = [&first, &second, &third].map(|key| cache.entry(key).exists());
    assert_eq!(there, [true, false, true]);
    let large = keep(&cache, "large", 10_000);
    let there = [&first, &third, &large].map(|key| cache.entry(key).exists());
    assert_eq!(there, [false, false, true]);
}

#[test]
fn what_killed_runs_left_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    for name in ["new-a", "dead-b", "new-young"] {
        fs::create_dir(cache.dir.join(name)).unwrap();
    }
    for name in ["new-a", "dead-b"] {
        let dir = File::open(cache.dir.join(name)).unwrap();
        let past = dir.metadata().unwrap().modified().unwrap() - Duration::from_hours(24);
        dir.set_modified(past).unwrap();
    }
    keep(&cache, "a", 10);
    let there = ["new-a", "dead-b", "new-young"].map(|name| cache.dir.join(name).exists());
    assert_eq!(there, [false, false, true]);
    let mut names: Vec<_> =
        fs::read_dir(&cache.dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["entries", "locks", "new-young", "secret"], "nothing of this run is left");
}

/// As it is when two runs remove one left-over: the second finds that it is gone.
#[test]
fn a_left_over_that_cannot_be_removed_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), 1).unwrap();
    let first = keep(&cache, "first", 10);
    let stuck = File::create(cache.dir.join("dead-stuck")).unwrap();
    stuck.set_modified(stuck.metadata().unwrap().modified().unwrap() - Duration::from_hours(24)).unwrap();
    let second = keep(&cache, "second", 10);
    assert_eq!([&first, &second].map(|key| cache.entry(key).exists()), [false, true], "room is made");
}

#[tokio::test]
async fn one_builds_and_others_wait_but_not_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    let key = key(&cache, "a");
    let held = cache.lock(&key, Duration::from_secs(10)).await.unwrap();
    assert!(cache.lock(&key, Duration::from_millis(50)).await.is_none());
    drop(held);
    assert!(cache.lock(&key, Duration::from_secs(10)).await.is_some());
    // A pipe in its place is not waited for.
    let lock = cache.dir.join("locks").join(&key.as_str()[..LOCK_DIGITS]);
    fs::remove_file(&lock).unwrap();
    mkfifoat(CWD, &lock, Mode::RUSR | Mode::WUSR).unwrap();
    assert!(cache.lock(&key, Duration::from_secs(10)).await.is_none());
}

#[test]
fn a_folder_that_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Cache::open(&file, MUCH).is_err());
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    fs::write(cache.dir.join("secret"), "short").unwrap();
    assert!(Cache::open(folder.path(), MUCH).is_err());
}
