//! The files of a checkout: tracked files, and new ones that are not ignored.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::cargo::{output, program};

/// Directory of the generated code of the plugin protocol.
pub(super) const GENERATED_DIR: &str = "crates/tiphys-cmp/src/generated";

/// A checkout's files.
pub(crate) struct Tree {
    root: PathBuf,
    paths: Vec<String>,
}

impl Tree {
    /// Returns the tracked files and those that the next `git add` would track, so that problems are found before a commit.
    pub(crate) fn of_checkout(root: &Path) -> Result<Self, Failure> {
        let names = output(
            program("git")
                .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
                .current_dir(root),
        )?;
        Ok(Self::new(root, names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()))
    }

    /// Creates a tree of these files without deleted ones.
    pub(crate) fn new(root: &Path, mut paths: Vec<String>) -> Self {
        paths.retain(|path| root.join(path).symlink_metadata().is_ok());
        paths.sort();
        paths.dedup();
        Self { root: root.to_path_buf(), paths }
    }

    /// The root directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// All paths, relative to the root, `/`-separated, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Returns all paths with this extension.
    pub(crate) fn with_extension(&self, extension: &str) -> impl Iterator<Item = &str> {
        self.paths().filter(move |path| has_extension(path, extension))
    }

    /// Whether this path is a file or a directory with files.
    pub(crate) fn has(&self, path: &str) -> bool {
        let below = format!("{path}/");
        path.is_empty() || self.paths.iter().any(|known| known == path || known.starts_with(&below))
    }

    /// Returns a file's content; `None` if it is not UTF-8, not a regular file, or missing.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>, Failure> {
        let full = self.root.join(path);
        if !full.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(None);
        }
        let bytes = fs::read(&full).map_err(|error| Failure::at(&full, error))?;
        Ok(String::from_utf8(bytes).ok())
    }
}

/// Whether a path has this lower-case extension.
pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}

/// Whether a path is in a directory of test data.
pub(crate) fn is_test_data(path: &str) -> bool {
    path.split('/').any(|part| part == "testdata")
}

/// Whether a path is a file of tests: `tests.rs`, or below a directory `tests`.
pub(crate) fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.split('/').rev().skip(1).any(|part| part == "tests")
}

/// Removes `.`, `..` and empty components; `None` if the path leads out.
pub(crate) fn normalise(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
