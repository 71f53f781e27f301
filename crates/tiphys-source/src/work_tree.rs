//! Paths on this machine that lie in a git work tree, and what stood there at a commit.

#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};

use tiphys_tree::{RepoPath, Tree};

/// A path in a git work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTreePath {
    /// The top of the work tree, links resolved.
    pub top: PathBuf,
    /// The path below it, as it was given: links in the work tree are not followed, since another commit may have others.
    pub path: RepoPath,
}

/// What a commit has at a path of a work tree.
#[derive(Clone, Debug)]
pub struct PastFiles {
    /// The commit's 40 digits.
    pub commit: String,
    pub(crate) found: Option<(Tree, RepoPath)>,
}

impl PastFiles {
    /// The place on this machine where it can be read as long as this value lives; none if the commit has nothing at the path.
    pub fn place(&self) -> Option<PathBuf> {
        self.found.as_ref().map(|(tree, path)| path.below(tree.root()))
    }

    /// The folder that stands for the top of the work tree, and the path in it.
    pub fn tree(&self) -> Option<(&Path, &RepoPath)> {
        self.found.as_ref().map(|(tree, path)| (tree.root(), path))
    }
}

/// A path in a work tree that cannot be a path of a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is not UTF-8")]
pub struct NotUtf8 {
    /// The path.
    pub path: PathBuf,
}

impl WorkTreePath {
    /// The work trees that an absolute path lies in, each once: every one that is on the way to it, links followed, the innermost last.
    /// A path that is not there lies where it would be.
    pub fn find(path: &Path) -> Result<Vec<Self>, NotUtf8> {
        let mut found: Vec<Self> = Vec::new();
        let mut add = |top: &Path, rest: &Path| {
            if found.iter().any(|known| known.top == top) || top.join(".git").symlink_metadata().is_err() {
                return Ok(());
            }
            let rest = rest.to_str().ok_or_else(|| NotUtf8 { path: path.to_path_buf() })?;
            // One that the rest of the path leaves again by `..` does not hold it.
            found.extend(RepoPath::new(rest).ok().map(|path| Self { top: top.to_path_buf(), path }));
            Ok(())
        };
        let mut place = PathBuf::new();
        let mut components = path.components();
        while let Some(component) = components.next() {
            let rest = components.as_path();
            if component == Component::ParentDir {
                place.pop();
                continue;
            }
            place.push(component);
            match place.symlink_metadata() {
                Ok(metadata) if metadata.is_symlink() => {
                    let Ok(target) = place.canonicalize() else { break };
                    let mut above: Vec<&Path> = target.ancestors().skip(1).collect();
                    above.reverse();
                    for top in above {
                        add(top, &target.strip_prefix(top).unwrap_or(&target).join(rest))?;
                    }
                    place = target;
                }
                Ok(_) => {}
                Err(_) => break,
            }
            add(&place, rest)?;
        }
        Ok(found)
    }
}
