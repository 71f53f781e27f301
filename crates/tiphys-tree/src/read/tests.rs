use super::{Depth, ReadError};
use crate::{RepoPath, Store, StoreError, StoreOptions, Tree, TreeLimits};

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path inside")
}

/// A tree with files, folders and links; the folder keeps it alive.
fn tree() -> (tempfile::TempDir, Tree) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let limits = TreeLimits { entries_max: 100, bytes_max: 1 << 20 };
    let options = StoreOptions { dir: dir.path().join("store"), runs_dir: dir.path().join("runs"), limits };
    let store = Store::open(options).expect("the store opens");
    let tree = store.write_by_content(b"", |writer| -> Result<(), StoreError> {
        for file in ["app/b.yaml", "app/a/z.yaml", "app/a.yaml", "app/.hidden.yaml", "other/x.yaml"] {
            writer.file(path(file), false, file.as_bytes())?;
        }
        writer.directory(path("app-empty"))?;
        writer.link(path("app/to-file.yaml"), "../other/x.yaml")?;
        writer.link(path("app/to-folder"), "../other")?;
        writer.link(path("app/to-nothing.yaml"), "gone.yaml")?;
        Ok(())
    });
    (dir, tree.expect("the tree is written"))
}

fn listed(folder: &str, depth: Depth) -> Vec<String> {
    let (_dir, tree) = tree();
    tree.files(&path(folder), depth)
        .expect("the folder is listed")
        .iter()
        .map(|file| file.as_str().to_owned())
        .collect()
}

#[test]
fn listing_is_sorted_without_directory_and_broken_links() {
    assert_eq!(
        listed("app", Depth::Folder),
        ["app/.hidden.yaml", "app/a.yaml", "app/b.yaml", "app/to-file.yaml"]
    );
}

#[test]
fn recursive_listing_is_in_name_order() {
    let expected = ["app/.hidden.yaml", "app/a/z.yaml", "app/a.yaml", "app/b.yaml", "app/to-file.yaml"];
    assert_eq!(listed("app", Depth::Recursive), expected);
}

#[test]
fn directories_are_listed_before_their_content_without_links() {
    let (_dir, tree) = tree();
    let found = tree.directories(&RepoPath::default()).expect("the tree is listed");
    let found: Vec<&str> = found.iter().map(RepoPath::as_str).collect();
    assert_eq!(found, ["app", "app/a", "app-empty", "other"]);
}

#[test]
fn missing_directory_is_named() {
    let (_dir, tree) = tree();
    let error = tree.files(&path("nowhere"), Depth::Folder).expect_err("nothing is there");
    assert!(error.to_string().contains("nowhere"), "{error}");
}

#[test]
fn files_are_read_through_links() {
    let (_dir, tree) = tree();
    let read = |name: &str| {
        tree.read(&path(name), 1 << 10)
            .expect("readable")
            .map(|bytes| String::from_utf8(bytes).expect("UTF-8"))
    };
    assert_eq!(read("app/a.yaml").as_deref(), Some("app/a.yaml"));
    assert_eq!(read("app/to-file.yaml").as_deref(), Some("other/x.yaml"));
    assert_eq!(read("app"), None);
    assert_eq!(read("app/to-nothing.yaml"), None);
    assert_eq!(read("nowhere/at/all"), None);
}

#[test]
fn file_above_the_limit_is_named() {
    let (_dir, tree) = tree();
    assert_eq!(
        tree.read(&path("app/a.yaml"), 10).expect("ten bytes are allowed").map(|bytes| bytes.len()),
        Some(10)
    );
    let error = tree.read(&path("app/a.yaml"), 9).expect_err("ten bytes are too many");
    assert!(matches!(error, ReadError::TooLarge { bytes_max: 9, .. }), "{error}");
}
