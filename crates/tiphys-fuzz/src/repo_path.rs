//! Any text is a path inside a repository or refused; what is found there, links followed, is inside too.

use std::path::Path;

use tiphys_tree::glob::Listing;
use tiphys_tree::{EntryKind, Final, RepoPath};

use crate::lines::with_entries;

/// The first line is the path, the others are the tree.
pub(crate) fn body(bytes: &[u8]) {
    let Some((text, entries)) = with_entries(bytes) else { return };
    let Ok(path) = RepoPath::new(text) else { return };
    check_path(&path);
    if let Ok(real) = entries.resolve(&path) {
        check_path(&real);
        assert_eq!(entries.resolve(&real).ok().as_ref(), Some(&real), "nothing is left to follow");
        let mut above = real.parent();
        while let Some(directory) = above {
            let kind = entries.kind(directory.as_str().as_bytes(), Final::Keep);
            assert_eq!(kind.ok(), Some(EntryKind::Directory), "{directory} is on the way to {real}");
            above = directory.parent();
        }
    }
}

fn check_path(path: &RepoPath) {
    let components = || path.as_str().split('/');
    assert!(path.is_root() || components().all(|name| !matches!(name, "" | "." | "..")), "{path:?}");
    assert!(!path.as_str().contains('\0'));
    assert_eq!(RepoPath::new(path.as_str()).as_ref(), Ok(path), "clean paths stay as they are");
    assert!(path.below(Path::new("/the/tree")).starts_with("/the/tree"), "{path:?}");
    if let (Some(directory), Some(name)) = (path.parent(), path.file_name()) {
        assert_eq!(directory.join(name).as_ref(), Ok(path));
    }
}
