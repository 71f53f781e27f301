//! Whether the files of a directory have changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files;

/// The files that [`FolderCluster`](super::FolderCluster) reads, with the time of their last change and their size. Equal states have equal
/// files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderState {
    /// Time of the last change, and bytes.
    files: BTreeMap<PathBuf, (Option<SystemTime>, u64)>,
    /// Why directories cannot be read.
    problems: Vec<String>,
}

impl FolderState {
    /// Adds a directory, or a file. One that cannot be read differs from one that can.
    pub fn add(&mut self, path: &Path) {
        match files(path) {
            Ok(found) => self.files.extend(found.into_iter().map(|file| {
                let metadata = fs::metadata(&file).ok();
                let changed = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
                (file, (changed, metadata.map_or(0, |metadata| metadata.len())))
            })),
            Err(error) => self.problems.push(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
