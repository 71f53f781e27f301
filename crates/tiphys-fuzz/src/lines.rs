//! Trees as lines of text, so that seeds can be read and written by people.

use tiphys_tree::{Entries, RepoPath};

/// Entries that a tree takes.
const ENTRIES_MAX: u64 = 1_000;

/// The first line, and the entries that the others name: `path` a file, `path/` a directory, `path -> target` a link. What cannot be
/// in a tree is left out.
pub(crate) fn with_entries(bytes: &[u8]) -> Option<(&str, Entries)> {
    let mut lines = std::str::from_utf8(bytes).ok()?.split('\n');
    let first = lines.next()?;
    let mut entries = Entries::new(ENTRIES_MAX);
    for line in lines {
        let (path, target) = line.split_once(" -> ").unwrap_or((line, ""));
        let Ok(clean) = RepoPath::new(path) else { continue };
        // A clash leaves what was there before.
        drop(if !target.is_empty() {
            entries.link(&clean, target)
        } else if path.ends_with('/') {
            entries.directory(&clean)
        } else {
            entries.file(&clean)
        });
    }
    Some((first, entries))
}
