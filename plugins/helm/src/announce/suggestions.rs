//! Suggested value files, as in Argo CD's `walkHelmValueFilesInPath`.

use std::fs;
use std::path::Path;

/// Maximum number of directory entries to read.
const ENTRIES_MAX: usize = 50_000;

/// Maximum depth of directories.
const DEPTH_MAX: usize = 32;

/// Returns the relative paths of files whose name contains `values` and ends in `.yaml` or `.yml`, in any letter case, sorted by name in
/// each directory. Links are not followed; unreadable directories are skipped.
pub(super) fn value_files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = ENTRIES_MAX;
    walk(folder, "", 0, &mut left, &mut found);
    found
}

fn walk(folder: &Path, prefix: &str, depth: usize, left: &mut usize, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().take(*left).collect();
    *left -= entries.len();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{prefix}{name}");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth < DEPTH_MAX {
                walk(&entry.path(), &format!("{path}/"), depth + 1, left, found);
            }
        } else if is_suggested(&name) {
            found.push(path);
        }
    }
}

fn is_suggested(name: &str) -> bool {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    name.contains("values") && matches!(end.as_deref(), Some("yaml" | "yml"))
}

#[cfg(test)]
mod tests;
