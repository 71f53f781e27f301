//! Links and paths that stay inside or lead out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::{ContainmentError, check_links, first_link, resolve};
use crate::RepoPath;

/// A folder `root` with these files (no target), directories (ending in `/`) and links, beside a file `secret`.
fn tree(entries: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::write(dir.path().join("secret"), "").expect("a file");
    let root = dir.path().join("root");
    fs::create_dir(&root).expect("the root");
    for (path, target) in entries {
        let place = root.join(path);
        fs::create_dir_all(if path.ends_with('/') { &place } else { place.parent().expect("a parent") })
            .expect("folders");
        if !target.is_empty() {
            symlink(target, &place).expect("a link");
        } else if !path.ends_with('/') {
            fs::write(&place, "").expect("a file");
        }
    }
    dir
}

/// The link that is named when a folder is refused.
fn first_link_out(root: &Path) -> Option<String> {
    match check_links(root) {
        Ok(()) => None,
        Err(ContainmentError::OutOfBounds { file }) => Some(file),
        Err(error) => panic!("{error}"),
    }
}

fn repo_path(path: &str) -> RepoPath {
    RepoPath::new(path).expect("a path inside")
}

fn resolved(dir: &TempDir, path: &str) -> Result<String, ContainmentError> {
    let root = dir.path().join("root");
    let below = |found: PathBuf| found.strip_prefix(&root).map(|path| path.to_string_lossy().into_owned());
    resolve(&root, repo_path(path)).map(|found| below(found).unwrap_or_else(|_| "outside".to_owned()))
}

#[test]
fn links_inside_are_followed() {
    let dir =
        tree(&[("a/b/file", ""), ("l", "a/b"), ("a/up", ".."), ("a/b/m", "./../../l//file"), ("d/", "")]);
    for (path, expected) in [
        ("", ""),
        ("a/b", "a/b"),
        ("l", "a/b"),
        ("l/file", "a/b/file"),
        ("a/up", ""),
        ("a/up/a/up/l/m", "a/b/file"),
        ("d", "d"),
    ] {
        assert_eq!(resolved(&dir, path).expect("inside"), expected, "{path}");
    }
}

#[test]
fn missing_path_is_an_error() {
    let dir = tree(&[("a/file", ""), ("dangling", "a/none")]);
    for path in ["b", "a/b/c", "a/file/x", "dangling", "dangling/x"] {
        let error = resolved(&dir, path).expect_err("missing");
        assert_eq!(error.to_string(), format!("{path}: app path does not exist"));
    }
}

#[test]
fn path_that_leaves_the_root_is_rejected() {
    let dir = tree(&[
        ("out", "../secret"),
        ("absolute", "/etc"),
        ("back", "../root/a"),
        ("a/up", ".."),
        ("chain", "a/up/../secret"),
        ("d/first", "../out"),
    ]);
    for (path, file) in [
        ("out", "out"),
        ("absolute", "absolute"),
        ("absolute/passwd", "absolute"),
        ("back", "back"),
        ("chain", "chain"),
        ("d/first", "out"),
        ("a/up/out", "out"),
    ] {
        let error = resolved(&dir, path).expect_err("outside");
        assert!(
            matches!(&error, ContainmentError::OutOfBounds { file: named } if named == file),
            "{path}: {error}"
        );
    }
}

#[test]
fn link_loop_is_an_error() {
    let dir = tree(&[("a", "b"), ("b", "a")]);
    let error = resolved(&dir, "a/x").expect_err("a loop");
    assert_eq!(error.to_string(), "a/x: too many levels of symbolic links");
}

#[test]
fn tree_with_inner_links_is_accepted() {
    let dir = tree(&[
        ("a/b/file", ""),
        ("a/l", "../a/b"),
        ("a/root", ".."),
        ("gone", "x/y"),
        ("o", "o"),
        (".git/out", "/etc"),
        ("a/.git/out", "../../.."),
    ]);
    assert_eq!(first_link_out(&dir.path().join("root")), None);
}

#[test]
fn tree_with_a_link_out_is_rejected_by_name() {
    for (entries, file) in [
        (&[("d/l", "/etc")][..], "d/l"),
        (&[("d/l", "../..")], "d/l"),
        (&[("d/l", "../../root/x")], "d/l"),
        (&[("a/b/up", "../.."), ("z", "a/b/up/../x")], "z"),
        (&[("a/b/up", "../.."), ("a/b/through", "up/../secret")], "a/b/through"),
        (&[("a", "b"), ("z", ".."), ("y", "../root/b")], "y"),
        // Behind a folder that is not there yet.
        (&[("later", "nowhere/../../secret")], "later"),
        (&[("a/b/up", "../.."), ("later", "nowhere/../a/b/up/../secret")], "later"),
        // Through what is not looked at itself.
        (&[(".git/out", "/etc"), ("through", ".git/out")], "through"),
        // As it is written this leaves, though the system would stay inside; Argo CD goes by what is written.
        (&[("a/b/c/", ""), ("deep", "a/b/c"), ("w", "deep/../../..")], "w"),
    ] {
        assert_eq!(first_link_out(&tree(entries).path().join("root")).as_deref(), Some(file));
    }
}

#[test]
fn non_utf8_link_is_followed_and_named() {
    let dir = tree(&[(".git/out", "/etc")]);
    let name = OsStr::from_bytes(b"caf\xE9");
    symlink(".git/out", dir.path().join("root").join(name)).expect("a link");
    assert_eq!(first_link_out(&dir.path().join("root")).as_deref(), Some(r#""caf\xE9""#));
}

#[test]
fn unreadable_directory_is_named() {
    let dir = tree(&[]);
    let error = check_links(&dir.path().join("secret")).expect_err("a file");
    assert!(error.to_string().ends_with("/secret"), "{error}");
}

/// A tree of directories, files and links among few names, so that links meet each other.
fn any_tree() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = || prop::sample::select(vec!["a", "b", "c"]);
    let path = prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"));
    let target = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "..", "..", ".", ""]), 1..6)
        .prop_map(|names| names.join("/"));
    let kind = prop_oneof![1 => Just(String::new()), 3 => target];
    prop::collection::vec((path, kind), 1..14)
}

fn build(entries: &[(String, String)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let root = dir.path().join("x/root");
    fs::create_dir_all(&root).expect("the root");
    for outside in ["a", "b", "x/a", "x/c"] {
        fs::create_dir(dir.path().join(outside)).expect("something to find outside");
    }
    for (path, target) in entries {
        let place = root.join(path);
        // Entries are made without going through links that were made before.
        let parent = RepoPath::new(path).expect("a path").parent().expect("not the root");
        let through_link = Path::new(parent.as_str())
            .ancestors()
            .any(|part| root.join(part).symlink_metadata().is_ok_and(|m| m.is_symlink()));
        if through_link || place.symlink_metadata().is_ok() {
            continue;
        }
        fs::create_dir_all(place.parent().expect("a parent")).expect("folders");
        if target.is_empty() || target.starts_with('/') {
            fs::create_dir(&place).expect("a folder");
        } else {
            symlink(target, &place).expect("a link");
        }
    }
    dir
}

#[test]
fn outermost_link_on_a_path_is_found() {
    let dir = tree(&[("a/b/", ""), ("link", "a"), ("a/file", "nowhere")]);
    symlink("root", dir.path().join("named")).expect("a link");
    let cases = [
        ("", None),
        ("a/b/new", None),
        ("a/file", Some("a/file")),
        ("link/b", Some("link")),
        ("link/file/x", Some("link")),
    ];
    for (path, expected) in cases {
        let found = first_link(&dir.path().join("named"), &RepoPath::new(path).expect("inside"));
        assert_eq!(found.as_ref().map(RepoPath::as_str), expected, "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_resolved_path_is_the_systems_and_inside(
        entries in any_tree(),
        path in prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..5),
    ) {
        let dir = build(&entries);
        let root = dir.path().canonicalize().expect("a folder").join("x/root");
        let path = path.join("/");
        let real = root.join(&path).canonicalize();
        match resolve(&root, RepoPath::new(&path).expect("inside")) {
            Ok(found) => {
                prop_assert!(found.starts_with(&root));
                prop_assert_eq!(&found, &real.expect("the system finds it too"));
            }
            Err(ContainmentError::Missing { .. } | ContainmentError::TooManyLinks { .. }) => prop_assert!(real.is_err()),
            Err(ContainmentError::OutOfBounds { .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn in_a_tree_that_passes_nothing_leads_out(entries in any_tree()) {
        let dir = build(&entries);
        let root = dir.path().canonicalize().expect("a folder").join("x/root");
        if first_link_out(&root).is_none() {
            for (path, _) in &entries {
                if let Ok(real) = root.join(path).canonicalize() {
                    prop_assert!(real.starts_with(&root), "{}", path);
                }
                let answer = resolve(&root, RepoPath::new(path).expect("inside"));
                prop_assert!(!matches!(answer, Err(ContainmentError::OutOfBounds { .. })), "{}", path);
            }
        }
    }
}
