//! Where a path of this machine leads.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::containment::LINKS_FOLLOWED_MAX;

/// A place that decides what a path names: a symbolic link that is followed, or the end of the path.
///
/// The author of a link chooses what is behind it. So a path is under the control of a directory if one of its locations is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The link or the end, without links and `..` in its directories.
    pub place: PathBuf,
    /// The rest of the path behind the link, as written. Empty for the end.
    pub rest: PathBuf,
}

impl Location {
    /// Returns the directories that contain the place, and the place itself if it is not a link; the innermost first.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.place.ancestors().skip(usize::from(self.place.is_symlink()))
    }
}

/// Returns the locations of an absolute path in the order in which they are passed. The end is the last one and need not exist.
pub fn locations(path: &Path) -> Vec<Location> {
    let mut found = Vec::new();
    let mut place = PathBuf::new();
    let mut ahead = names(path);
    while let Some(name) = ahead.pop() {
        if name == Component::ParentDir.as_os_str() {
            place.pop();
            continue;
        }
        // The root replaces the path.
        place.push(name);
        let Ok(target) = fs::read_link(&place) else { continue };
        if found.len() == LINKS_FOLLOWED_MAX {
            break;
        }
        found.push(Location { place: place.clone(), rest: ahead.iter().rev().collect() });
        place.pop();
        ahead.extend(names(&target));
    }
    found.push(Location { place, rest: PathBuf::new() });
    found
}

/// Returns the components of a path, last first.
fn names(path: &Path) -> Vec<OsString> {
    let components = path.components().filter(|component| *component != Component::CurDir);
    components.rev().map(|component| component.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests;
