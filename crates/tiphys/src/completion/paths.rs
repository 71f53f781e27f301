//! Files and directories.

use std::fs;
use std::path::Path;

use super::Candidate;
use super::context::{Context, at_home};

/// Entries of a directory that are read. Larger directories are not listed completely.
const ENTRIES_MAX: usize = 10_000;

/// Which files are listed in addition to directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    /// None.
    No,
    /// Files that may contain documents.
    Documents,
    /// All.
    All,
}

/// Files and directories that start with a path. Directories end with `/`. Hidden entries are listed if the name starts with a dot.
pub(super) fn paths(context: &Context<'_>, typed: &str, files: Files) -> Vec<Candidate> {
    paths_below(&context.host.absolute(""), context, typed, files)
}

/// The same relative to another directory than the current one.
pub(super) fn paths_below(base: &Path, context: &Context<'_>, typed: &str, files: Files) -> Vec<Candidate> {
    let (folder, begun) = typed.rfind('/').map_or(("", typed), |slash| typed.split_at(slash + 1));
    let Ok(entries) = fs::read_dir(base.join(at_home(context.host, folder))) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.take(ENTRIES_MAX).flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with(begun) || (name.starts_with('.') && !begun.starts_with('.')) {
            continue;
        }
        let kind = entry.file_type();
        let is_link = kind.as_ref().is_ok_and(fs::FileType::is_symlink);
        if kind.is_ok_and(|kind| kind.is_dir()) || (is_link && entry.path().is_dir()) {
            found.push(Candidate::open(format!("{folder}{name}/"), ""));
        } else if files == Files::All || (files == Files::Documents && is_document(&name)) {
            found.push(Candidate::word(format!("{folder}{name}"), ""));
        }
    }
    found.sort_by(|a, b| a.value.cmp(&b.value));
    found
}

fn is_document(name: &str) -> bool {
    let ending = Path::new(name).extension().unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|known| ending == *known)
}
