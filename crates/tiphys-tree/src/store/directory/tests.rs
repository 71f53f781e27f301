//! Trees of working copies, and copies of trees.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use crate::{Modes, RepoPath, Store, StoreError, StoreOptions, Tree, TreeLimits, TreeWriter, WriteError};

/// A store, and a working copy beside it.
struct Place {
    dir: TempDir,
    store: Store,
}

const LIMITS: TreeLimits = TreeLimits { entries_max: 1000, bytes_max: 10 << 20 };

impl Place {
    fn new(limits: TreeLimits) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let options = StoreOptions { dir: dir.path().join("s"), runs_dir: dir.path().join("r"), limits };
        let store = Store::open(options).expect("the store opens");
        fs::create_dir(dir.path().join("copy")).expect("the working copy");
        Self { dir, store }
    }

    fn write(&self, path: &str, content: &str) {
        let place = self.dir.path().join("copy").join(path);
        fs::create_dir_all(place.parent().expect("a parent")).expect("folders");
        fs::write(place, content).expect("a file");
    }

    fn read(&self, files: &[&str], modes: Modes) -> Result<Tree, StoreError> {
        let files: Vec<RepoPath> = files.iter().filter_map(|file| RepoPath::new(file).ok()).collect();
        self.store.tree_of_directory(&self.dir.path().join("copy"), files.into_iter(), modes, b"salt")
    }

    fn written(&self, fill: impl FnOnce(&mut TreeWriter) -> Result<(), WriteError>) -> Tree {
        self.store.write_by_content(b"salt", |writer| Ok::<_, StoreError>(fill(writer)?)).expect("written")
    }
}

fn path(path: &str) -> RepoPath {
    RepoPath::new(path).expect("a path inside")
}

/// Paths below a directory, sorted; directories end in a slash.
fn names(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).expect("a folder") {
            let entry = entry.expect("an entry");
            let is_dir = entry.file_type().expect("a type").is_dir();
            let name = entry.path().strip_prefix(root).expect("below").to_str().expect("UTF-8").to_owned();
            names.push(if is_dir { format!("{name}/") } else { name });
            if is_dir {
                todo.push(entry.path());
            }
        }
    }
    names.sort();
    names
}

#[test]
fn tree_contains_exactly_the_listed_files() {
    let place = Place::new(LIMITS);
    place.write("a/b/file", "one");
    place.write("a/ignored", "two");
    place.write("top", "three");
    let tree = place.read(&["top", "a/b/file", "top"], Modes::Plain).expect("a tree");
    assert_eq!(names(tree.root()), ["a/", "a/b/", "a/b/file", "top"]);
    assert_eq!(fs::read_to_string(tree.root().join("a/b/file")).expect("the file"), "one");
}

#[test]
fn directory_has_the_name_of_an_equal_tree() {
    let place = Place::new(LIMITS);
    place.write("a/run", "x");
    place.write("b", "");
    let script = place.dir.path().join("copy/a/run");
    fs::set_permissions(script, Permissions::from_mode(0o755)).expect("an executable file");
    symlink("../b", place.dir.path().join("copy/a/link")).expect("a link");
    for modes in [Modes::Plain, Modes::Preserved] {
        // The first time it is written, the second time it is known.
        let first = place.read(&["a/run", "a/link", "b"], modes).expect("a tree");
        let second = place.read(&["a/run", "a/link", "b"], modes).expect("a tree");
        let written = place.written(|writer| {
            writer.set_modes(modes);
            writer.link(path("a/link"), "../b")?;
            writer.file(path("b"), false, b"")?;
            writer.file(path("a/run"), true, b"x")
        });
        assert_eq!((first.key(), second.key()), (written.key(), written.key()), "{modes:?}");
    }
}

#[test]
fn changed_file_gives_another_tree() {
    let place = Place::new(LIMITS);
    place.write("a", "one");
    let first = place.read(&["a"], Modes::Plain).expect("a tree");
    place.write("a", "two");
    let second = place.read(&["a"], Modes::Plain).expect("a tree");
    assert_ne!(first.key(), second.key());
    let texts = [first, second].map(|tree| fs::read_to_string(tree.root().join("a")).expect("the file"));
    assert_eq!(texts, ["one", "two"]);
}

#[test]
fn threads_do_not_change_the_result() {
    let place = Place::new(LIMITS);
    let files: Vec<String> = (0..300).map(|number| format!("d{}/f{number}", number / 7)).collect();
    for file in &files {
        place.write(file, file);
    }
    let listed: Vec<&str> = files.iter().map(String::as_str).collect();
    let tree = place.read(&listed, Modes::Plain).expect("a tree");
    let written =
        place.written(|writer| files.iter().try_for_each(|f| writer.file(path(f), false, f.as_bytes())));
    assert_eq!(tree.key(), written.key());
}

#[test]
fn large_file_is_streamed_completely() {
    let place = Place::new(LIMITS);
    let text = "0123456789abcdef".repeat(100_000);
    place.write("large", &text);
    let tree = place.read(&["large"], Modes::Plain).expect("a tree");
    let written = place.written(|writer| writer.file(path("large"), false, text.as_bytes()));
    assert_eq!(tree.key(), written.key());
    assert_eq!(fs::read_to_string(tree.root().join("large")).expect("the file"), text);
}

#[test]
fn missing_and_special_files_are_ignored() {
    let place = Place::new(LIMITS);
    place.write("a/file", "x");
    place.write("plain", "x");
    let pipe = place.dir.path().join("copy/pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
    fs::create_dir(place.dir.path().join("copy/submodule")).expect("a folder");
    let listed = ["a/file", "a/gone", "gone/file", "plain/file", "pipe", "submodule"];
    let tree = place.read(&listed, Modes::Plain).expect("a tree");
    assert_eq!(names(tree.root()), ["a/", "a/file", "submodule/"]);
}

#[test]
fn nothing_behind_a_link_is_read() {
    let place = Place::new(LIMITS);
    place.write("real/deep/file", "x");
    fs::create_dir_all(place.dir.path().join("secret/deep")).expect("a folder outside");
    fs::write(place.dir.path().join("secret/deep/file"), "secret").expect("a file outside");
    symlink("../secret", place.dir.path().join("copy/link")).expect("a link");
    symlink("real", place.dir.path().join("copy/inside")).expect("a link");
    let listed = ["inside/deep/file", "link/deep/file", "real/deep/file"];
    let tree = place.read(&listed, Modes::Plain).expect("a tree");
    assert_eq!(names(tree.root()), ["real/", "real/deep/", "real/deep/file"]);
}

#[test]
fn link_out_of_a_working_copy_is_rejected() {
    let place = Place::new(LIMITS);
    symlink("../secret", place.dir.path().join("copy/link")).expect("a link");
    let error = place.read(&["link"], Modes::Plain).expect_err("it leads out");
    assert_eq!(error.to_string(), "repository contains out-of-bounds symlinks. file: link");
}

#[test]
fn working_copy_above_the_limits_is_rejected() {
    let place = Place::new(TreeLimits { entries_max: 2, bytes_max: 10 });
    place.write("a", "12345");
    place.write("b", "12345");
    place.write("c", "1");
    place.write("d", "");
    place.read(&["a", "b"], Modes::Plain).expect("within the bounds");
    let error = |files: &[&str]| place.read(files, Modes::Plain).expect_err("beyond").to_string();
    assert_eq!(error(&["a", "b", "c"]), "the tree has more than 10 bytes");
    assert_eq!(error(&["b", "c", "d"]), "the tree has more than 2 entries");
}

#[test]
fn missing_working_copy_is_named() {
    let place = Place::new(LIMITS);
    fs::remove_dir(place.dir.path().join("copy")).expect("removed");
    let error = place.read(&["a"], Modes::Plain).expect_err("missing");
    assert_eq!(error.to_string(), format!("cannot read {}", place.dir.path().join("copy").display()));
}

#[test]
fn copy_is_complete_and_writable() {
    let place = Place::new(LIMITS);
    let large = "x".repeat(2 << 20);
    let tree = place.written(|writer| {
        writer.file(path("a/run"), true, b"#!")?;
        writer.file(path("large"), false, large.as_bytes())?;
        writer.directory(path("empty"))?;
        writer.link(path("a/link"), "../large")
    });
    let parent = place.dir.path().join("kept");
    let copy = tree.copy_below(&parent, "a/b").expect("a copy");
    let below = copy.strip_prefix(&parent).expect("it is below").to_str().expect("UTF-8");
    assert!(below.starts_with("a_b-") && below.ends_with("/tree"), "{below}");
    assert_ne!(tree.copy_below(&parent, "a/b").expect("another copy"), copy);
    assert_eq!(names(&copy), names(tree.root()));
    assert_eq!(fs::read_to_string(copy.join("a/link")).expect("the file").len(), large.len());
    assert_eq!(fs::metadata(copy.join("a/run")).expect("the file").permissions().mode() & 0o777, 0o755);
    fs::write(copy.join("a/run"), "changed").expect("written");
    assert_eq!(fs::read_to_string(tree.root().join("a/run")).expect("the file"), "#!");
}

#[test]
fn listed_files_are_read_within_the_limit() {
    let place = Place::new(LIMITS);
    place.write("a/x", "content");
    place.write("b", "0123456789");
    symlink("a/x", place.dir.path().join("copy/link")).expect("a link");
    symlink("a", place.dir.path().join("copy/folder")).expect("a link");
    let files = ["a", "a/x", "b", "folder/x", "gone", "link"].map(path);
    let look = |limits| {
        super::look_at_files(&place.dir.path().join("copy"), &files, limits, |entry| match entry {
            super::DirectoryEntry::Link { target } => Ok(format!("-> {}", target.escape_ascii())),
            super::DirectoryEntry::File { executable, bytes, content } => {
                let mut text = String::new();
                content.read_to_string(&mut text)?;
                Ok(format!("{executable} {bytes} {text}"))
            }
        })
    };
    let seen = look(LIMITS).expect("all can be read");
    let seen: Vec<(&str, &str)> = seen.iter().map(|(path, seen)| (path.as_str(), seen.as_str())).collect();
    assert_eq!(seen, [("a/x", "false 7 content"), ("b", "false 10 0123456789"), ("link", "-> a/x")]);
    let refused = look(TreeLimits { bytes_max: 16, ..LIMITS }).expect_err("they have 17 bytes");
    assert!(matches!(refused, StoreError::Write(WriteError::TooManyBytes { max: 16, .. })), "{refused:?}");
}
