//! Resolves paths and links within a tree.

mod folder;
mod links;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::path::shown;
use crate::{EntryPath, RepoPath};

pub use folder::check_links;
pub use links::first_link_out;
pub(crate) use links::{LinkSet, stays_inside_as_written};

/// Maximum number of links that one lookup follows; Linux's own limit.
pub(crate) const LINKS_FOLLOWED_MAX: usize = 40;

/// A path or link that leads out of a tree, or does not exist.
#[derive(Debug, thiserror::Error)]
pub enum ContainmentError {
    /// A link leads out of the tree.
    #[error("repository contains out-of-bounds symlinks. file: {file}")]
    OutOfBounds {
        /// The link, relative to the root.
        file: String,
    },
    /// The path does not exist.
    #[error("{path}: app path does not exist")]
    Missing {
        /// The requested path.
        path: String,
    },
    /// A loop of links, or too many of them.
    #[error("{path}: too many levels of symbolic links")]
    TooManyLinks {
        /// The requested path.
        path: String,
    },
    /// The file system failed.
    #[error("cannot read {}", shown(path.as_os_str().as_bytes()))]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// Returns the real path of an entry of a tree with all links followed. No step may leave the root.
///
/// Links in `root` itself are followed as usual. An absolute link is rejected, also one that points into the tree, because a plugin sees
/// the tree at another path.
pub fn resolve<'p>(root: &Path, path: impl Into<EntryPath<'p>>) -> Result<PathBuf, ContainmentError> {
    let path = path.into();
    let missing = || ContainmentError::Missing { path: path.to_string() };
    // The path below the root that contains no link.
    let mut real = PathBuf::new();
    // The remaining components, last first, each with the link that it comes from.
    let mut ahead: Vec<Step> = Step::all(path.as_bytes(), None).collect();
    let mut links: Vec<PathBuf> = Vec::new();
    while let Some(step) = ahead.pop() {
        if step.name == b".." {
            if !real.pop() {
                let file = step.link.map_or_else(
                    || path.to_string(),
                    |link| shown(links[link].as_os_str().as_bytes()).into_owned(),
                );
                return Err(ContainmentError::OutOfBounds { file });
            }
            continue;
        }
        let here = real.join(OsStr::from_bytes(&step.name));
        let place = root.join(&here);
        let metadata = match fs::symlink_metadata(&place) {
            Ok(metadata) => metadata,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(missing());
            }
            Err(source) => return Err(ContainmentError::Io { path: place, source }),
        };
        if metadata.is_symlink() {
            if links.len() == LINKS_FOLLOWED_MAX {
                return Err(ContainmentError::TooManyLinks { path: path.to_string() });
            }
            let target =
                fs::read_link(&place).map_err(|source| ContainmentError::Io { path: place, source })?;
            if target.is_absolute() {
                return Err(ContainmentError::OutOfBounds {
                    file: shown(here.as_os_str().as_bytes()).into_owned(),
                });
            }
            ahead.extend(Step::all(target.as_os_str().as_bytes(), Some(links.len())));
            links.push(here);
        } else if !metadata.is_dir() && !ahead.is_empty() {
            return Err(missing());
        } else {
            real = here;
        }
    }
    Ok(below(root, &real))
}

/// Returns the outermost link on a path below a directory. The path need not exist.
pub fn first_link(dir: &Path, path: &RepoPath) -> Option<RepoPath> {
    let ancestors: Vec<RepoPath> = std::iter::successors(Some(path.clone()), RepoPath::parent).collect();
    ancestors.into_iter().rev().find(|path| !path.is_root() && path.below(dir).is_symlink())
}

/// A component of a path that is being resolved.
struct Step {
    name: Vec<u8>,
    /// Index of the link whose target contains it, among the followed links.
    link: Option<usize>,
}

impl Step {
    /// Returns the components of a path, last first.
    fn all(path: &[u8], link: Option<usize>) -> impl Iterator<Item = Self> {
        path.rsplit(|byte| *byte == b'/')
            .filter(|name| !matches!(*name, b"" | b"."))
            .map(move |name| Self { name: name.to_vec(), link })
    }
}

/// Joins paths without the trailing slash that an empty path would give.
fn below(root: &Path, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { root.to_path_buf() } else { root.join(path) }
}
