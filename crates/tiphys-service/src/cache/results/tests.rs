use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;

use tempfile::TempDir;
use tiphys_render::{ResultKey, ResultStore as _};

use super::ResultFiles;

const KEY: ResultKey = ResultKey::from_bytes([7; 32]);
const OTHER: ResultKey = ResultKey::from_bytes([8; 32]);

struct World {
    dir: TempDir,
    results: ResultFiles,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let results = ResultFiles::new(dir.path().join("results"));
        Self { dir, results }
    }

    fn file(&self, key: &ResultKey) -> PathBuf {
        self.dir.path().join("results").join(key.to_string())
    }
}

#[test]
fn result_is_kept_in_a_private_file() {
    let world = World::new();
    assert_eq!(world.results.get(&KEY), None);
    world.results.put(&KEY, b"result");
    assert_eq!(world.results.get(&KEY).as_deref(), Some(&b"result"[..]));
    assert_eq!(world.results.get(&OTHER), None);
    let mode = |path: PathBuf| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    assert_eq!((mode(world.file(&KEY)), mode(world.dir.path().join("results"))), (0o600, 0o700));
    world.results.put(&KEY, b"again");
    assert_eq!(world.results.get(&KEY).as_deref(), Some(&b"again"[..]));
}

#[test]
fn changed_file_is_no_result() {
    let world = World::new();
    world.results.put(&KEY, b"result");
    let file = world.file(&KEY);
    let whole = fs::read(&file).expect("it can be read");
    let cases: [(&str, Vec<u8>); 5] = [
        ("empty", Vec::new()),
        ("cut in the checksum", whole[..20].to_vec()),
        ("cut in the result", whole[..whole.len() - 1].to_vec()),
        ("longer", [&whole[..], b"!"].concat()),
        ("another result", [&whole[..32], b"forged"].concat()),
    ];
    for (name, content) in cases {
        fs::write(&file, content).expect("it can be written");
        assert_eq!(world.results.get(&KEY), None, "{name}");
    }
    fs::write(world.file(&OTHER), &whole).expect("it can be written");
    fs::set_permissions(world.file(&OTHER), Permissions::from_mode(0o600)).expect("it can be changed");
    assert_eq!(world.results.get(&OTHER), None, "the result of another key");
    fs::write(&file, &whole).expect("it can be written");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("it can be changed");
    assert_eq!(world.results.get(&KEY), None, "open to a group");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("it can be changed");
    assert_eq!(world.results.get(&KEY).as_deref(), Some(&b"result"[..]));
    fs::remove_file(&file).expect("it can be removed");
    std::os::unix::fs::symlink(world.file(&OTHER), &file).expect("a link can be made");
    assert_eq!(world.results.get(&KEY), None, "a link");
}

#[test]
fn two_writers_of_one_result_leave_a_whole_one() {
    let world = World::new();
    let results: Vec<Vec<u8>> = (0..8).map(|digit| vec![digit; 1 << 20]).collect();
    thread::scope(|scope| {
        for result in &results {
            scope.spawn(|| world.results.put(&KEY, result));
        }
    });
    let found = world.results.get(&KEY).expect("one of them is kept");
    assert!(results.contains(&found));
    let files = fs::read_dir(world.dir.path().join("results")).expect("it can be listed").count();
    assert_eq!(files, 1, "nothing is left over");
}

#[test]
fn result_that_cannot_be_written_is_not_kept() {
    let world = World::new();
    fs::write(world.dir.path().join("results"), "a file").expect("it can be written");
    world.results.put(&KEY, b"result");
    assert_eq!(world.results.get(&KEY), None);
}

#[test]
fn results_in_a_directory_of_others_are_none() {
    let world = World::new();
    world.results.put(&KEY, b"result");
    let dir = world.dir.path().join("results");
    fs::set_permissions(&dir, Permissions::from_mode(0o777)).expect("it can be changed");
    assert_eq!(world.results.get(&KEY), None);
}
