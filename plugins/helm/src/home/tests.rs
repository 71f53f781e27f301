//! Homes of ended runs, of killed runs, and of other users.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, mkdirat, mkfifoat, open, openat};

use super::{Home, HomeError};

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn base(temporary: &Path) -> PathBuf {
    temporary.join(format!("tiphys-helm-{}", fs::metadata(temporary).unwrap().uid()))
}

#[test]
fn home_is_private_and_removed_after_its_run() {
    let temporary = tempfile::tempdir().unwrap();
    let home = Home::in_a_test(temporary.path()).unwrap();
    let file = home.write("values", b"secret").unwrap();
    make_deep(&home.folder("data/helm").unwrap());
    let modes =
        [&base(temporary.path()), home.path(), &file].map(|path| fs::metadata(path).unwrap().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o700, 0o600]);
    for (name, value) in home.environment() {
        assert!(Path::new(&value).starts_with(home.path()), "{}", name.display());
    }
    drop(home);
    assert_eq!(names(&base(temporary.path())), ["gate"]);
}

/// Creates directories deeper than a path can address.
fn make_deep(folder: &Path) {
    let mut deepest = open(folder, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..2_000 {
        mkdirat(&deepest, "below", Mode::RWXU).unwrap();
        deepest = openat(&deepest, "below", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
}

#[test]
fn next_run_removes_only_the_remains_of_killed_runs() {
    let temporary = tempfile::tempdir().unwrap();
    let living = Home::in_a_test(temporary.path()).unwrap();
    let base = base(temporary.path());
    for left in ["run-killed/data", "run-without-a-lock", "dead-half-removed/cache"] {
        fs::create_dir_all(base.join(left)).unwrap();
    }
    fs::write(base.join("run-killed/lock"), "").unwrap();
    fs::create_dir(base.join("versions")).unwrap();
    // Made by other programs or by mistake.
    fs::create_dir_all(base.join("run-closed/below")).unwrap();
    fs::write(base.join("run-closed/lock"), "").unwrap();
    for closed in ["run-closed/below", "run-closed"] {
        fs::set_permissions(base.join(closed), fs::Permissions::from_mode(0o000)).unwrap();
    }
    for odd in [&b"run-\xff\n"[..], b"dead-\xff"] {
        fs::create_dir(base.join(OsStr::from_bytes(odd))).unwrap();
    }
    fs::write(base.join("run-file"), "").unwrap();
    mkfifoat(CWD, base.join("run-pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    mkfifoat(CWD, base.join("dead-half-removed/pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    symlink("run-link", base.join("run-link")).unwrap();
    symlink(living.path(), base.join("run-other-link")).unwrap();
    make_deep(&base.join("run-killed/data"));

    let next = Home::in_a_test(temporary.path()).unwrap();

    let runs = [&living, &next].map(|home| home.path().file_name().unwrap().to_str().unwrap().to_owned());
    let mut expected = vec!["gate".to_owned(), "versions".to_owned()];
    expected.extend(runs);
    expected.sort();
    assert_eq!(names(&base), expected);
}

#[test]
fn unwritable_or_empty_directory_is_made_private() {
    let temporary = tempfile::tempdir().unwrap();
    let base = base(temporary.path());
    for (mode, file) in [(0o755, Some("versions")), (0o777, None)] {
        fs::create_dir(&base).unwrap();
        if let Some(file) = file {
            fs::create_dir(base.join(file)).unwrap();
        }
        fs::set_permissions(&base, fs::Permissions::from_mode(mode)).unwrap();
        let before = fs::File::open(&base).unwrap();
        drop(Home::in_a_test(temporary.path()).unwrap());
        assert_eq!(fs::metadata(&base).unwrap().mode() & 0o777, 0o700);
        // Open handles must not refer to the new directory.
        assert_eq!(before.metadata().unwrap().nlink() == 0, file.is_none());
        fs::remove_dir_all(&base).unwrap();
    }

    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), &base).unwrap();
    drop(Home::in_a_test(temporary.path()).unwrap());
    assert_eq!(names(elsewhere.path()), [""; 0]);
}

#[test]
fn folder_of_another_user_does_not_stop_a_run() {
    let link: fn(&Path) = |path| symlink("nowhere", path).unwrap();
    let file: fn(&Path) = |path| fs::write(path, "").unwrap();
    // Only root can change the owner; otherwise the directory is this user's and is used.
    let folder: fn(&Path) = |path| {
        fs::create_dir(path).unwrap();
        let _needs_root: io::Result<()> = chown(path, Some(12_345), None);
    };
    for stand in [link, file, folder] {
        let temporary = tempfile::tempdir().unwrap();
        let taken = base(temporary.path());
        stand(&taken);
        let before = names(temporary.path());
        let home = Home::in_a_test(temporary.path()).unwrap();
        let own = home.path().parent().unwrap();
        assert!(own != taken || own.metadata().unwrap().uid() == temporary.path().metadata().unwrap().uid());
        assert_eq!(own.metadata().unwrap().mode() & 0o777, 0o700);
        assert!(own.join("gate").is_file() && home.versions().unwrap().starts_with(own));
        drop(home);
        assert_eq!(names(temporary.path()), before);
    }
}

#[test]
fn directory_with_foreign_files_is_rejected_unchanged() {
    let temporary = tempfile::tempdir().unwrap();
    let base = base(temporary.path());
    fs::create_dir_all(base.join("versions")).unwrap();
    for mode in [0o777, 0o770, 0o1777] {
        fs::set_permissions(&base, fs::Permissions::from_mode(mode)).unwrap();
        let changed = || fs::metadata(&base).map(|found| (found.ctime(), found.ctime_nsec())).unwrap();
        let before = changed();
        for _ in 0..2 {
            let error = Home::in_a_test(temporary.path()).unwrap_err().to_string();
            let expected = "is open to other users, who may have put something there; remove it, or set TMPDIR to a directory of your own";
            assert_eq!(error, format!("{} {expected}", base.display()));
        }
        assert_eq!(fs::metadata(&base).unwrap().mode() & 0o7777, mode);
        assert_eq!(changed(), before, "it never looks private");
    }
    fs::set_permissions(&base, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(base.join("versions"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(base.join("versions/forged"), "v4.0.0").unwrap();
    let home = Home::in_a_test(temporary.path()).unwrap();
    assert!(matches!(home.versions(), Err(HomeError::Open { .. })));
}

#[test]
fn invalid_lock_file_is_reported_without_waiting() {
    let temporary = tempfile::tempdir().unwrap();
    drop(Home::in_a_test(temporary.path()).unwrap());
    let gate = base(temporary.path()).join("gate");
    let pipe = |path: &Path| mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
    let cases: [&dyn Fn(&Path); 3] =
        [&pipe, &|path| symlink("/dev/null", path).unwrap(), &|path| fs::create_dir(path).unwrap()];
    for stand in cases {
        fs::remove_file(&gate).unwrap();
        stand(&gate);
        let error = Home::in_a_test(temporary.path()).unwrap_err().to_string();
        let expected = "is not a file of this user; remove it, or set TMPDIR to a directory of your own";
        assert_eq!(error, format!("{} {expected}", gate.display()));
        if gate.is_dir() && !gate.is_symlink() {
            fs::remove_dir(&gate).unwrap();
            fs::write(&gate, "").unwrap();
        }
    }
    let run = base(temporary.path()).join("run-odd");
    fs::create_dir(&run).unwrap();
    pipe(&run.join("lock"));
    drop(Home::in_a_test(temporary.path()).unwrap());
    assert!(run.exists(), "a run with an unknown state is not removed");
}

#[test]
fn versions_expire_after_thirty_days_without_use() {
    let temporary = tempfile::tempdir().unwrap();
    let first = Home::in_a_test(temporary.path()).unwrap();
    let versions = first.versions().unwrap();
    let now = first.created().unwrap();
    for (name, days) in [("new", 0), ("month", 29), ("old", 31)] {
        let file = fs::File::create(versions.join(name)).unwrap();
        file.set_modified(now - Duration::from_hours(24) * days).unwrap();
    }
    drop(Home::in_a_test(temporary.path()).unwrap());
    assert_eq!(names(&versions), ["month", "new"]);
}
