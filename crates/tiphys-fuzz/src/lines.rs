//! Trees as lines, so that seeds can be read and written by people. A name need not be text.

use tiphys_tree::{Entries, EntryPath};

/// Entries that a tree takes.
const ENTRIES_MAX: u64 = 1_000;
/// Stands between a link and its target.
const ARROW: &[u8] = b" -> ";

/// The first line, and the entries that the others name: `path` a file, `path/` a directory, `path -> target` a link. What cannot be
/// in a tree is left out.
pub(crate) fn with_entries(bytes: &[u8]) -> Option<(&[u8], Entries)> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let first = lines.next()?;
    let mut entries = Entries::new(ENTRIES_MAX);
    for line in lines {
        let arrow = line.windows(ARROW.len()).position(|window| window == ARROW);
        let (path, target) = arrow.map_or((line, &b""[..]), |at| (&line[..at], &line[at + ARROW.len()..]));
        let Ok(clean) = EntryPath::new(path) else { continue };
        // A clash leaves what was there before.
        drop(if !target.is_empty() {
            entries.link(&clean, target)
        } else if path.ends_with(b"/") {
            entries.directory(&clean)
        } else {
            entries.file(&clean)
        });
    }
    Some((first, entries))
}
