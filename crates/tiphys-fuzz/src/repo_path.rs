//! Any bytes are a path inside a repository or refused; what is found there, links followed, is inside too. What is text is the same
//! path, whether it is read as text or as bytes.

use std::path::Path;

use tiphys_tree::glob::Listing;
use tiphys_tree::{EntryKind, EntryPath, Final, RepoPath};

use crate::lines::with_entries;

/// The first line is the path, the others are the tree.
pub(crate) fn body(bytes: &[u8]) {
    let Some((line, entries)) = with_entries(bytes) else { return };
    let read = EntryPath::new(line);
    if let Ok(text) = std::str::from_utf8(line) {
        assert_eq!(RepoPath::new(text).map(EntryPath::from), read, "text and bytes are one path");
    }
    let Ok(path) = read else { return };
    check_path(&path);
    if let Ok(real) = entries.resolve(&path) {
        check_path(&real);
        assert_eq!(entries.resolve(&real).ok().as_ref(), Some(&real), "nothing is left to follow");
        let mut above = real.parent();
        while let Some(directory) = above {
            let kind = entries.kind(directory.as_bytes(), Final::Keep);
            assert_eq!(kind.ok(), Some(EntryKind::Directory), "{directory} is on the way to {real}");
            above = directory.parent().map(EntryPath::into_owned);
        }
    }
}

fn check_path(path: &EntryPath<'_>) {
    let mut names = path.as_bytes().split(|byte| *byte == b'/');
    assert!(path.is_root() || names.all(|name| !matches!(name, b"" | b"." | b"..")), "{path:?}");
    assert!(!path.as_bytes().contains(&0));
    assert_eq!(EntryPath::new(path.as_bytes()).as_ref(), Ok(path), "clean paths stay as they are");
    assert!(path.below(Path::new("/the/tree")).starts_with("/the/tree"), "{path:?}");
    if let (Some(directory), Some(name)) = (path.parent(), path.file_name()) {
        assert_eq!(directory.join(name).as_ref(), Ok(path));
    }
    let shown = path.to_string();
    match std::str::from_utf8(path.as_bytes()) {
        Ok("") => assert_eq!(shown, "."),
        Ok(text) => assert_eq!(shown, text, "text prints as it is"),
        Err(_) => assert!(shown.starts_with('"') && shown.contains("\\x"), "{shown}"),
    }
}
