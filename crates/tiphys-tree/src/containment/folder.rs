//! The links of a folder that somebody else made. Whoever follows links, as helm does, could be led by one to whatever this user can read.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{ContainmentError, LinkSet, below, resolve};
use crate::EntryPath;
use crate::path::shown;

/// Where git keeps what is its own. It is no part of a repository's files.
const GIT_FOLDER: &str = ".git";

/// Refuses a folder with a link that leaves it at any step, or is absolute, and names the first in the order of bytes. What links lead to
/// need not be there. Links in a folder `.git` are followed, and not looked at themselves.
pub fn check_links(root: &Path) -> Result<(), ContainmentError> {
    let links = links(root)?;
    links.check().map_err(|file| ContainmentError::OutOfBounds { file })?;
    // The way through `.git` is not in the set.
    for path in links.paths() {
        if let Err(ContainmentError::OutOfBounds { .. }) = resolve(root, EntryPath::from_clean(path)) {
            return Err(ContainmentError::OutOfBounds { file: shown(path).into_owned() });
        }
    }
    Ok(())
}

fn links(root: &Path) -> Result<LinkSet, ContainmentError> {
    let mut links = LinkSet::default();
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        let place = below(root, &folder);
        let failed = |source| ContainmentError::Io { path: place.clone(), source };
        for entry in fs::read_dir(&place).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_symlink() {
                let target = read_target(&entry.path())?;
                links.add(path.as_os_str().as_bytes(), target.as_os_str().as_bytes());
            } else if kind.is_dir() && entry.file_name() != GIT_FOLDER {
                waiting.push(path);
            }
        }
    }
    Ok(links)
}

fn read_target(link: &Path) -> Result<PathBuf, ContainmentError> {
    let failed = |source: io::Error| ContainmentError::Io { path: link.to_path_buf(), source };
    fs::read_link(link).map_err(failed)
}
