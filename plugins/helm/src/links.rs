//! Links that lead out of a repository: helm follows links, so that a chart with one could read whatever this user can.
//!
//! Argo CD and tiphys refuse them before a plugin runs; so does the plugin, for whoever else runs it.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use tiphys_tree::{ContainmentError, RepoPath, resolve};

/// Why a tree is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// A link leads out.
    #[error("repository contains out-of-bounds symlinks. file: {file}")]
    OutOfBounds {
        /// The link, relative to the root.
        file: String,
    },
    /// A folder or a link could not be read.
    #[error("failed to walk for symlinks in {path}", path = path.display())]
    Io {
        /// The folder or link.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

/// Refuses a tree with a link that leaves it at any step, or is absolute. Folders are walked in the order of names, `.git` is not looked at,
/// and links that lead to nothing inside are no matter of this.
pub(crate) fn check(root: &Path) -> Result<(), LinkError> {
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        let place = root.join(&folder);
        let failed = |source| LinkError::Io { path: place.clone(), source };
        let read = fs::read_dir(&place).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = read.map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let mut folders = Vec::new();
        for entry in entries {
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_symlink() {
                check_link(root, &path)?;
            } else if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            }
        }
        waiting.extend(folders.into_iter().rev());
    }
    Ok(())
}

fn check_link(root: &Path, path: &Path) -> Result<(), LinkError> {
    let place = root.join(path);
    let target = fs::read_link(&place).map_err(|source| LinkError::Io { path: place.clone(), source })?;
    let out = || LinkError::OutOfBounds { file: path.to_string_lossy().into_owned() };
    if !stays_inside(path, &target) {
        return Err(out());
    }
    // As it is written it stays inside; through other links it may not. What is not UTF-8 has been looked at as far as Argo CD does.
    let Some(Ok(repo_path)) = path.to_str().map(RepoPath::new) else { return Ok(()) };
    match resolve(root, &repo_path) {
        Err(ContainmentError::OutOfBounds { .. }) => Err(out()),
        _ => Ok(()),
    }
}

/// Whether a link's target, taken word for word from the link's folder, never climbs above the root.
fn stays_inside(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count() - 1;
    for component in target.components() {
        match component {
            Component::RootDir | Component::Prefix(_) => return false,
            Component::CurDir => {}
            Component::ParentDir if depth == 0 => return false,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
        }
    }
    true
}

#[cfg(test)]
mod tests;
