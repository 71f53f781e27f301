//! Keeping paths and links inside a tree.

mod folder;
mod links;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::EntryPath;
use crate::path::shown;

pub use folder::check_links;
pub(crate) use links::{LinkSet, stays_inside_as_written};

/// Links that one lookup follows at most; the kernel's own bound on Linux.
pub(crate) const LINKS_FOLLOWED_MAX: usize = 40;

/// A path or a link that leads out of a tree, or is not there.
#[derive(Debug, thiserror::Error)]
pub enum ContainmentError {
    /// A link leads out.
    #[error("repository contains out-of-bounds symlinks. file: {file}")]
    OutOfBounds {
        /// The link, relative to the root.
        file: String,
    },
    /// Nothing there.
    #[error("{path}: app path does not exist")]
    Missing {
        /// As it was asked for.
        path: String,
    },
    /// Links that lead to each other, or more of them than a lookup follows.
    #[error("{path}: too many levels of symbolic links")]
    TooManyLinks {
        /// As it was asked for.
        path: String,
    },
    /// The file system failed.
    #[error("cannot read {}", shown(path.as_os_str().as_bytes()))]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

/// The real path of something inside a tree, all links followed; refuses to leave the root at any step.
///
/// `root` is taken as it is: links in its own path are followed as the system does. An absolute link is refused, also one
/// that points back inside, because a plugin sees the tree at another place.
pub fn resolve<'p>(root: &Path, path: impl Into<EntryPath<'p>>) -> Result<PathBuf, ContainmentError> {
    let path = path.into();
    let missing = || ContainmentError::Missing { path: path.to_string() };
    // The path below the root that is known to hold no link.
    let mut real = PathBuf::new();
    // What is still to be walked, last component first, each with the link that it comes from.
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

/// One component of a path that is being walked.
struct Step {
    name: Vec<u8>,
    /// Position of the link whose target holds it, among the links that were followed.
    link: Option<usize>,
}

impl Step {
    /// The components of a path, last first.
    fn all(path: &[u8], link: Option<usize>) -> impl Iterator<Item = Self> {
        path.rsplit(|byte| *byte == b'/')
            .filter(|name| !matches!(*name, b"" | b"."))
            .map(move |name| Self { name: name.to_vec(), link })
    }
}

/// Joins without the trailing slash that an empty path would give.
fn below(root: &Path, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { root.to_path_buf() } else { root.join(path) }
}
