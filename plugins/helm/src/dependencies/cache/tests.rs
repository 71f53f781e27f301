//! Cache entries: valid, broken, old, too many.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, Mode, mkfifoat};
use tiphys_process::removal::remove_tree;

use super::entry::FILE;
use super::{Age, Cache, Difference, ENTRIES, LOCK_DIGITS, LOCKS, SECRET, Snapshot, USED};
use crate::dependencies::key::{BuildKey, Inputs};

/// More than the entries of these tests.
const MUCH: u64 = 1 << 20;

fn key(cache: &Cache, name: &str) -> BuildKey {
    Inputs { helm: name, chart: Path::new("/nowhere"), local: &[], remotes: &[] }.key(cache.secret()).unwrap()
}

/// Damages a packed chart of an entry.
type Break = fn(&Path) -> io::Result<()>;

/// Creates something at a path.
type Put<'a> = &'a dyn Fn(&Path) -> io::Result<()>;

/// A build that removes one file and writes another of this size.
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

/// The names in `charts` after an entry was restored into it.
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

/// Replaces a file.
fn stand(file: &Path, put: Break) -> io::Result<()> {
    fs::remove_file(file)?;
    put(file)
}

fn open_to_others(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o777))
}

fn pipe(path: &Path) -> io::Result<()> {
    Ok(mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?)
}

fn make_old(file: &Path) -> io::Result<()> {
    make_older(&File::options().write(true).open(file)?)
}

fn make_older(file: &File) -> io::Result<()> {
    file.set_modified(file.metadata()?.modified()? - Duration::from_hours(24))
}

#[test]
fn entry_applies_the_changes_of_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("a/b"), MUCH).unwrap();
    let key = keep(&cache, "a", 10);
    let again = Cache::open(&folder.path().join("a/b"), MUCH).unwrap();
    assert_eq!(restored(&again, &key, Age::Any).unwrap(), ["new.tgz", "same.tgz"]);
    assert_eq!(restored(&again, &self::key(&again, "b"), Age::Any), None);
}

#[test]
fn old_entry_is_not_used_if_age_is_limited() {
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
fn broken_entry_is_not_used_and_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    let blob = |entry: &Path| {
        let mut files = fs::read_dir(entry).unwrap().map(|file| file.unwrap().path());
        files.find(|path| path.file_name().unwrap().len() == 64).unwrap()
    };
    let blob: fn(&Path) -> std::path::PathBuf = blob;
    assert!(blob(&cache.entry(&keep(&cache, "a", 10))).exists());
    let breaks: [Break; 14] = [
        |file| stand(file, pipe),
        |file| stand(file, |file| fs::create_dir(file)),
        |file| stand(file, |file| symlink("/dev/zero", file)),
        |file| stand(&file.with_file_name(FILE), pipe),
        |file| stand(&file.with_file_name(FILE), |list| symlink("/dev/zero", list)),
        |file| stand(&file.with_file_name(USED), pipe),
        |file| stand(&file.with_file_name(USED), |used| symlink("/dev/null", used)),
        // Moved, with a link in its place.
        |file| {
            let elsewhere = file.with_extension("elsewhere");
            fs::rename(file, &elsewhere).and_then(|()| symlink(elsewhere, file))
        },
        |file| {
            let entry = file.parent().unwrap();
            let elsewhere = entry.with_extension("elsewhere");
            fs::rename(entry, &elsewhere).and_then(|()| symlink(elsewhere, entry))
        },
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
fn least_recently_used_entry_is_removed_first() {
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
fn remains_of_killed_runs_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    let at = |name: &str| cache.dir.join(name);
    for name in ["new-a", "dead-b", "dead-closed", "new-young"] {
        fs::create_dir_all(at(name).join("below")).unwrap();
    }
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, at("dead-b/link")).unwrap();
    fs::write(at("dead-file"), "").unwrap();
    fs::create_dir(cache.dir.join(OsStr::from_bytes(b"new-\xff"))).unwrap();
    fs::set_permissions(at("dead-closed/below"), fs::Permissions::from_mode(0o000)).unwrap();
    for entry in fs::read_dir(&cache.dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry != at("new-young") {
            let file = File::open(entry).unwrap();
            make_older(&file).unwrap();
        }
    }
    keep(&cache, "a", 10);
    assert!(elsewhere.exists(), "links are not followed");
    let mut names: Vec<_> =
        fs::read_dir(&cache.dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["entries", "locks", "new-young", "secret"], "nothing of this run is left");
}

#[tokio::test]
async fn other_runs_wait_for_a_build_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    let key = key(&cache, "a");
    let held = cache.lock(&key, Duration::from_secs(10)).await.unwrap();
    let error = cache.lock(&key, Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop(held);
    cache.lock(&key, Duration::from_secs(10)).await.unwrap();
    // A pipe instead of the lock is rejected without waiting.
    let name = &key.as_str()[..LOCK_DIGITS];
    stand(&cache.dir.join(LOCKS).join(name), pipe).unwrap();
    let error = cache.lock(&key, Duration::from_secs(10)).await.unwrap_err();
    assert_eq!(error.to_string(), format!("`locks/{name}` in it must be a file of this user; remove it"));
}

#[test]
fn unusable_directory_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Cache::open(&file, MUCH).is_err());
    let elsewhere = folder.path().join("elsewhere");
    let cases: [(&str, Put<'_>, &str); 8] = [
        (SECRET, &|path| fs::write(path, "short"), "is broken"),
        (SECRET, &|path| fs::write(path, [0; 33]), "is broken"),
        (SECRET, &pipe, "is broken"),
        (
            SECRET,
            &|path| fs::write(&elsewhere, [0; 32]).and_then(|()| symlink(&elsewhere, path)),
            "is broken",
        ),
        (SECRET, &|path| fs::create_dir(path), "is broken"),
        (LOCKS, &pipe, "must be a directory of this user"),
        (ENTRIES, &|path| symlink(folder.path(), path), "must be a directory of this user"),
        (ENTRIES, &open_to_others, "others may write to"),
    ];
    for (name, put, problem) in cases {
        let cache = folder.path().join("cache");
        let dir = Cache::open(&cache, MUCH).unwrap().dir;
        remove_tree(&dir.join(name)).unwrap();
        put(&dir.join(name)).unwrap();
        let error = Cache::open(&cache, MUCH).err().unwrap().to_string();
        let expected = match problem {
            "others may write to" => format!("{problem} `{name}` in it; remove it"),
            problem => format!("`{name}` in it {problem}; remove it"),
        };
        assert_eq!(error, expected);
        fs::remove_dir_all(cache).unwrap();
    }
}

/// A link in the chart may lead from a build's output into the repository.
#[test]
fn links_of_the_chart_are_not_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), MUCH).unwrap();
    let key = keep(&cache, "a", 10);
    let (charts, elsewhere) = (folder.path().join("charts"), folder.path().join("elsewhere.tgz"));
    fs::create_dir(&charts).unwrap();
    fs::write(&elsewhere, "of the repository").unwrap();
    fs::write(charts.join("old.tgz"), "old").unwrap();
    symlink(&elsewhere, charts.join("new.tgz")).unwrap();
    assert!(cache.restore(&key, Age::Any, &charts));
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "of the repository");
    assert_eq!(fs::read(charts.join("new.tgz")).unwrap(), [b'x'; 10]);
}
