//! Homes of runs that end, of runs that are killed, and of other users.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

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
fn a_home_is_private_and_gone_with_its_run() {
    let temporary = tempfile::tempdir().unwrap();
    let home = Home::in_a_test(temporary.path()).unwrap();
    let file = home.write("values", b"secret").unwrap();
    let modes =
        [&base(temporary.path()), home.path(), &file].map(|path| fs::metadata(path).unwrap().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o700, 0o600]);
    for (name, value) in home.environment() {
        assert!(Path::new(&value).starts_with(home.path()), "{}", name.display());
    }
    drop(home);
    assert_eq!(names(&base(temporary.path())), ["gate"]);
}

#[test]
fn the_next_run_removes_what_a_killed_one_left_and_nothing_of_those_that_live() {
    let temporary = tempfile::tempdir().unwrap();
    let living = Home::in_a_test(temporary.path()).unwrap();
    let base = base(temporary.path());
    for left in ["run-killed/data", "run-without-a-lock", "dead-half-removed/cache"] {
        fs::create_dir_all(base.join(left)).unwrap();
    }
    fs::write(base.join("run-killed/lock"), "").unwrap();
    fs::create_dir(base.join("versions")).unwrap();

    let next = Home::in_a_test(temporary.path()).unwrap();

    let runs = [&living, &next].map(|home| home.path().file_name().unwrap().to_str().unwrap().to_owned());
    let mut expected = vec!["gate".to_owned(), "versions".to_owned()];
    expected.extend(runs);
    expected.sort();
    assert_eq!(names(&base), expected);
}

#[test]
fn a_folder_that_others_can_read_is_closed_and_a_link_is_not_followed() {
    let temporary = tempfile::tempdir().unwrap();
    let base = base(temporary.path());
    fs::create_dir(&base).unwrap();
    fs::set_permissions(&base, fs::Permissions::from_mode(0o755)).unwrap();
    drop(Home::in_a_test(temporary.path()).unwrap());
    assert_eq!(fs::metadata(&base).unwrap().mode() & 0o777, 0o700);

    fs::remove_dir_all(&base).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), &base).unwrap();
    assert!(matches!(Home::in_a_test(temporary.path()), Err(HomeError::Foreign { .. })));
    assert_eq!(names(elsewhere.path()), [""; 0]);
}
