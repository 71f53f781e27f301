//! Any pattern of discovery is looked up in any tree, or refused; what it finds is there, once, and in order.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use tiphys_tree::Final;
use tiphys_tree::glob::{Listing, Place, file_name, find};

use crate::lines::with_entries;

/// The first line is the folder, a colon, and the pattern; the others are the tree.
pub(crate) fn body(bytes: &[u8]) {
    let Some((line, entries)) = with_entries(bytes) else { return };
    // Patterns are UTF-8; file names need not be.
    let Ok(line) = std::str::from_utf8(line) else { return };
    let Some((base, pattern)) = line.split_once(':') else { return };
    let Some(base) = tiphys_tree::RepoPath::new(base).ok().and_then(|base| entries.resolve(&base).ok())
    else {
        return;
    };
    let base = base.below(Path::new(""));
    let place = Place { tree: &entries, seen_at: Path::new("/seen/at"), base: &base };
    let variable = |name: &str| Some(name.to_lowercase());
    for found in [file_name(&place, pattern), find(&place, pattern, &variable)] {
        let Ok(hits) = found else { continue };
        let bytes = |index: usize| hits[index].as_os_str().as_bytes();
        assert!((1..hits.len()).all(|index| bytes(index - 1) < bytes(index)), "{hits:?}");
        for hit in &hits {
            assert!(
                entries.kind(hit.as_os_str().as_bytes(), Final::Keep).is_ok(),
                "{} is there",
                hit.display()
            );
        }
    }
}
