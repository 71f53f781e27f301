//! The paths that a project file names.

use std::path::{Component, Path, PathBuf};

use tiphys_tree::locations;

/// Returns a directory relative to the current one if one contains the other, else as it is.
pub(super) fn relative(dir: &Path, current_dir: &Path) -> PathBuf {
    if let Ok(below) = dir.strip_prefix(current_dir) {
        return below.to_path_buf();
    }
    match current_dir.strip_prefix(dir) {
        Ok(below) => below.components().map(|_| Component::ParentDir).collect(),
        Err(_) => dir.to_path_buf(),
    }
}

/// Returns a path of a file in `dir`. `.` names the directory itself.
pub(super) fn joined(dir: &Path, path: &str) -> PathBuf {
    match path {
        "." if dir.as_os_str().is_empty() => PathBuf::from("."),
        "." => dir.to_path_buf(),
        path => dir.join(path),
    }
}

/// Returns whether an absolute path leads out of a canonical directory, after all links are resolved.
pub(crate) fn leads_out(path: &Path, top: &Path) -> bool {
    !locations(path).last().is_some_and(|end| end.place.starts_with(top))
}

#[cfg(test)]
mod tests;
