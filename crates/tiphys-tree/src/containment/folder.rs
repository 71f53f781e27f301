//! The links of a folder that somebody else made. Whoever follows links, as helm does, could be led by one to whatever this user can read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, open, readlinkat, statat};
use rustix::io::Errno;

use super::{ContainmentError, LinkSet, below, resolve};
use crate::EntryPath;
use crate::path::shown;

/// Where git keeps what is its own. It is no part of a repository's files.
const GIT_FOLDER: &str = ".git";

/// Bytes of a folder's names that are read at once.
const NAMES_AT_ONCE_BYTES: usize = 32 * 1024;

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

/// Folders are read by large pieces, and nothing is made of a file's name: a repository has many files and few links.
fn links(root: &Path) -> Result<LinkSet, ContainmentError> {
    let mut links = LinkSet::default();
    let mut names = Vec::with_capacity(NAMES_AT_ONCE_BYTES);
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        let place = below(root, &folder);
        let failed = |errno: Errno| ContainmentError::Io { path: place.clone(), source: errno.into() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = open(&place, flags, Mode::empty()).map_err(failed)?;
        let mut entries = RawDir::new(&directory, names.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let kind = match entry.file_type() {
                // Some file systems say only here what it is.
                FileType::Unknown => {
                    let found = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
                    FileType::from_raw_mode(found.st_mode)
                }
                kind => kind,
            };
            let path = || folder.join(OsStr::from_bytes(name.to_bytes()));
            match kind {
                FileType::Symlink => {
                    let target = readlinkat(&directory, name, Vec::new()).map_err(failed)?;
                    links.add(path().as_os_str().as_bytes(), target.as_bytes());
                }
                FileType::Directory
                    if ![".", "..", GIT_FOLDER].map(str::as_bytes).contains(&name.to_bytes()) =>
                {
                    waiting.push(path());
                }
                _ => {}
            }
        }
    }
    Ok(links)
}
