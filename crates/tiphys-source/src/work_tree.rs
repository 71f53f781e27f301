//! Paths in git work trees of this machine, and their files at a commit.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use tiphys_tree::{Location, RepoPath, Tree, locations};

/// A path in a git work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTreePath {
    /// The top of the work tree, links resolved.
    pub top: PathBuf,
    /// The path below it. Symbolic links in the work tree are not followed, because another commit may have others.
    pub path: RepoPath,
}

/// The files of a commit at a path of a work tree.
#[derive(Clone, Debug)]
pub struct PastFiles {
    /// The commit's 40 digits.
    pub commit: String,
    pub(crate) found: Option<(Tree, RepoPath)>,
}

impl PastFiles {
    /// Returns those of a path that does not exist.
    pub fn none() -> Self {
        Self { commit: String::new(), found: None }
    }

    /// Returns a path of this machine with the files, valid while this value exists. None if the commit does not have the path.
    pub fn place(&self) -> Option<PathBuf> {
        self.found.as_ref().map(|(tree, path)| path.below(tree.root()))
    }

    /// Returns a directory with the content of the work tree, and the path in it.
    pub fn tree(&self) -> Option<(&Path, &RepoPath)> {
        self.found.as_ref().map(|(tree, path)| (tree.root(), path))
    }
}

/// A path that is not UTF-8, as paths of repositories must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is not UTF-8")]
pub struct NotUtf8 {
    /// The path.
    pub path: PathBuf,
}

impl WorkTreePath {
    /// Returns the work trees that contain an absolute path, without duplicates, the innermost last. Symbolic links in the path are followed,
    /// and each work tree that they pass counts. The path need not exist.
    pub fn find(path: &Path) -> Result<Vec<Self>, NotUtf8> {
        let mut found: Vec<Self> = Vec::new();
        for location in locations(path) {
            let mut directories: Vec<&Path> = location.directories().collect();
            directories.reverse();
            let Location { place, rest } = &location;
            for top in directories {
                if found.iter().any(|known| known.top == top) || top.join(".git").symlink_metadata().is_err()
                {
                    continue;
                }
                let below = place.strip_prefix(top).unwrap_or(place).join(rest);
                let below = below.to_str().ok_or_else(|| NotUtf8 { path: path.to_path_buf() })?;
                // A path that leaves the work tree by `..` is not in it.
                found.extend(RepoPath::new(below).ok().map(|path| Self { top: top.to_path_buf(), path }));
            }
        }
        Ok(found)
    }
}
