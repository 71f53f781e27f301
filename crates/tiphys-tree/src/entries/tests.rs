//! Entries in memory against the same entries on disk.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::{Entries, EntryKind, Final, Lost};
use crate::containment::LinkSet;
use crate::{EntryPath, RepoPath, WriteError, resolve};

/// Entries by path: directories end in a slash, links say where they lead.
fn entries(list: &[(&str, &str)]) -> Entries {
    let mut entries = Entries::new(1_000);
    for (path, target) in list {
        add(&mut entries, path, target).expect("no clash");
    }
    entries
}

fn add(entries: &mut Entries, path: &str, target: &str) -> Result<(), WriteError> {
    let clean = repo_path(path);
    if path.ends_with('/') {
        entries.directory(&clean)
    } else if target.is_empty() {
        entries.file(&clean)
    } else {
        entries.link(&clean, target)
    }
}

fn repo_path(path: &str) -> RepoPath {
    RepoPath::new(path).expect("a path inside")
}

#[test]
fn inner_links_are_followed_and_outer_ones_are_broken() {
    let entries = entries(&[
        ("a/b/file", ""),
        ("l", "a/b"),
        ("a/up", ".."),
        ("a/b/m", "./../../l//file"),
        ("out", "../root/a"),
        ("absolute", "/a"),
        ("dangling", "a/none"),
        ("loop", "loop"),
        ("slash", "a/b/file/"),
    ]);
    for (path, expected) in [
        ("", Ok("")),
        ("l", Ok("a/b")),
        ("l/file", Ok("a/b/file")),
        ("a/up/a/up/l/m", Ok("a/b/file")),
        ("a/up", Ok("")),
        ("out", Err("repository contains out-of-bounds symlinks. file: out")),
        ("a/up/out/b", Err("repository contains out-of-bounds symlinks. file: out")),
        ("absolute/b", Err("repository contains out-of-bounds symlinks. file: absolute")),
        ("dangling", Err("dangling: app path does not exist")),
        ("a/b/file/x", Err("a/b/file/x: app path does not exist")),
        ("slash", Err("slash: app path does not exist")),
        ("loop", Err("loop: too many levels of symbolic links")),
    ] {
        let answer = entries.resolve(repo_path(path)).map_err(|error| error.to_string());
        let expected = expected.map(str::as_bytes).map_err(str::to_owned);
        assert_eq!(answer.as_ref().map(EntryPath::as_bytes), expected.as_ref().map(|path| *path), "{path}");
    }
}

#[test]
fn final_link_is_followed_on_request() {
    let entries = entries(&[("a/b/", ""), ("a/l", "b"), ("dangling", "x")]);
    let look = |path: &str, last| entries.look_at(path.as_bytes(), last);
    assert_eq!(look("a/l", Final::Keep), Ok(EntryKind::Link));
    assert_eq!(look("a/l", Final::Follow), Ok(EntryKind::Directory));
    assert_eq!(look("a/l/", Final::Keep), Ok(EntryKind::Directory));
    assert_eq!(look("dangling", Final::Keep), Ok(EntryKind::Link));
    assert_eq!(look("dangling", Final::Follow), Err(Lost::Missing));
    assert_eq!(look("..", Final::Keep), Err(Lost::Outside(None)));
}

#[test]
fn directory_is_listed_in_byte_order() {
    let entries = entries(&[("d/b", ""), ("d/a/x", ""), ("d/B", "b"), ("d/é", ""), ("l", "d")]);
    let listed: Vec<_> = entries.children(b"l").expect("a directory").collect();
    assert_eq!(
        listed,
        [("B", EntryKind::Link), ("a", EntryKind::Directory), ("b", EntryKind::File), ("é", EntryKind::File)]
            .map(|(name, kind)| (name.as_bytes(), kind))
    );
    assert_eq!(entries.children(b"d/b").err(), Some(Lost::NotADirectory));
    assert_eq!(entries.len(), 7, "the parents count");
}

#[test]
fn entries_are_rejected_like_by_a_writer() {
    let long_name = "n".repeat(256);
    let long_path = "d/".repeat(2_100);
    for (first, second, expected) in [
        ("a", "a", "a clashes with another entry"),
        ("a/b", "a", "a clashes with another entry"),
        ("a", "a/b/c", "a clashes with another entry"),
        ("a", "a/", "a clashes with another entry"),
        ("a", "./", ""),
        ("a/", "a/", ""),
        ("a", &long_name, &*format!("cannot write {long_name}")),
        ("a", &long_path, &*format!("cannot write {}", long_path.trim_end_matches('/'))),
    ] {
        let mut entries = entries(&[(first, "")]);
        let answer = add(&mut entries, second, "").err().map(|error| error.to_string());
        assert_eq!(answer.unwrap_or_default(), expected, "{first} {second}");
    }
    let error = Entries::new(9).link(repo_path("l"), "x".repeat(4_096)).expect_err("too long");
    assert_eq!(error.to_string(), "cannot write l");
    assert!(Entries::new(9).file(RepoPath::default()).is_err(), "the root is not a file");
}

#[test]
fn parents_count_as_entries() {
    let mut entries = Entries::new(3);
    entries.file(repo_path("a/b/c")).expect("three entries");
    entries.directory(repo_path("a/b")).expect("it is there");
    let error = entries.file(repo_path("d")).expect_err("a fourth");
    assert!(matches!(error, WriteError::TooManyEntries { max: 3, .. }), "{error}");
}

/// Directories, files and links among few names, so that links meet each other.
pub(crate) fn any_entries() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = || prop::sample::select(vec!["a", "b", ".c"]);
    let path = prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"));
    let target = prop::collection::vec(prop::sample::select(vec!["a", "b", ".c", "..", "..", ".", ""]), 1..6)
        .prop_map(|names| names.join("/"));
    let directory = path.clone().prop_map(|path| (format!("{path}/"), String::new()));
    let file = path.clone().prop_map(|path| (path, String::new()));
    let link = (path, target.prop_filter("an empty target makes no link", |target| !target.is_empty()));
    prop::collection::vec(prop_oneof![2 => directory, 3 => file, 4 => link], 1..16)
}

/// Entries, without those that clash or lead out as they are written, both in memory and in the folder `root` of a temporary one,
/// with the links, some of which may lead out through others.
pub(crate) fn in_memory_and_on_disk(list: &[(String, String)]) -> (Entries, LinkSet, TempDir) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let root = dir.path().join("root");
    fs::create_dir(&root).expect("the root");
    let (mut entries, mut links) = (Entries::new(1_000), LinkSet::default());
    for (path, target) in list {
        let outside = !crate::containment::stays_inside_as_written(
            repo_path(path).as_str().as_bytes(),
            target.as_bytes(),
        );
        if outside || add(&mut entries, path, target).is_err() {
            continue;
        }
        let place = root.join(path);
        fs::create_dir_all(if path.ends_with('/') { &place } else { place.parent().expect("a parent") })
            .expect("folders");
        if !target.is_empty() {
            symlink(target, &place).expect("a link");
            links.add(repo_path(path).as_str().as_bytes(), target.as_bytes());
        } else if !path.ends_with('/') {
            fs::write(&place, "").expect("a file");
        }
    }
    (entries, links, dir)
}

fn kind_on_disk(metadata: io::Result<fs::Metadata>) -> Option<EntryKind> {
    let kind = metadata.ok()?.file_type();
    Some(if kind.is_symlink() {
        EntryKind::Link
    } else if kind.is_dir() {
        EntryKind::Directory
    } else {
        EntryKind::File
    })
}

fn relative(root: &Path, found: &Path) -> EntryPath<'static> {
    let path = found.strip_prefix(root).expect("inside").as_os_str().as_bytes();
    EntryPath::new(path).expect("a path inside").into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_path_is_in_memory_what_it_is_on_disk(
        list in any_entries(),
        names in prop::collection::vec(prop::sample::select(vec!["a", "b", ".c", "a", "b", ".", ""]), 1..6),
    ) {
        let (entries, _, dir) = in_memory_and_on_disk(&list);
        let root = dir.path().join("root");
        let path = names.join("/");
        // A leading slash would leave the root.
        let path = path.trim_start_matches('/');
        let place = root.join(path);
        for (last, metadata) in [(Final::Keep, fs::symlink_metadata(&place)), (Final::Follow, fs::metadata(&place))] {
            match entries.look_at(path.as_bytes(), last) {
                Ok(kind) => prop_assert_eq!(Some(kind), kind_on_disk(metadata), "{}", path),
                Err(Lost::Outside(_)) => {}
                Err(_) => prop_assert_eq!(None, kind_on_disk(metadata), "{}", path),
            }
        }
        let clean = repo_path(path);
        let (ours, disks) = (entries.resolve(&clean), resolve(&root, &clean).map(|found| relative(&root, &found)));
        // A slash behind a file's name in a link is overlooked on disk, and not by the system.
        if list.iter().all(|(_, target)| !target.ends_with(['/', '.'])) {
            prop_assert_eq!(ours.map_err(|error| error.to_string()), disks.map_err(|error| error.to_string()));
        }
    }
}
