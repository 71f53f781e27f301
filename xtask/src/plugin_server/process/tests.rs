use std::fs;

use super::{ProcessId, Stat, occupied};

#[test]
fn name_with_parentheses_does_not_shift_the_fields() {
    let line = "42 (a) Z (b c) Z 7 42 42 0 -1 4194560 100 200 0 0 11 12 13 14 20 0 5 0 99 1000000 321 184467";
    let expected = Stat { id: 42, parent: 7, is_zombie: true, threads: 5, ticks: 50 };
    assert_eq!(Stat::parse(line), Some(expected));
    assert_eq!(Stat::parse("42 (a) S 7"), None);
}

#[test]
fn process_has_descriptors_threads_and_memory() {
    let look = ProcessId(std::process::id()).look().expect("a look at this process");
    assert!(look.descriptors >= 3, "{look:?}");
    assert!(look.threads >= 1, "{look:?}");
    assert!(look.resident_bytes > 100_000 && look.peak_bytes > 100_000, "{look:?}");
}

#[test]
fn ended_process_is_a_failure() {
    // Ids end at 2^22.
    let failure = ProcessId(u32::MAX).look().expect_err("no such process");
    assert_eq!(failure.to_string(), "the server, process 4294967295, has ended");
}

#[test]
fn directory_has_files_directories_and_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("a/b")).expect("folders");
    fs::write(folder.path().join("a/b/c"), "12345").expect("a file");
    fs::write(folder.path().join("d"), "67").expect("a file");
    assert_eq!(occupied(folder.path()), (4, 7));
    assert_eq!(occupied(&folder.path().join("none")), (0, 0));
}
