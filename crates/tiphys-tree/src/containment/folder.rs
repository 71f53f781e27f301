//! Checks the links of an untrusted directory. A program that follows links, like helm, could be made to read any file of this user.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, open, readlinkat, statat};
use rustix::io::Errno;

use super::{ContainmentError, LinkSet, below, resolve};
use crate::EntryPath;
use crate::path::shown;

/// The directory of git's own files, which are not files of the repository.
const GIT_FOLDER: &str = ".git";

/// Bytes of directory entries read at once.
const NAMES_AT_ONCE_BYTES: usize = 32 * 1024;

/// Rejects a directory with a link that is absolute or leaves it at any step, and names the first one in byte order. Targets of links need
/// not exist. Links in `.git` are followed, but not checked themselves.
pub fn check_links(root: &Path) -> Result<(), ContainmentError> {
    let links = links(root)?;
    links.check().map_err(|file| ContainmentError::OutOfBounds { file })?;
    // Paths through `.git` are not in the set.
    for path in links.paths() {
        if let Err(ContainmentError::OutOfBounds { .. }) = resolve(root, EntryPath::from_clean(path)) {
            return Err(ContainmentError::OutOfBounds { file: shown(path).into_owned() });
        }
    }
    Ok(())
}

/// Reads directories in large pieces and allocates nothing for file names: a repository has many files and few links.
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
                // Some file systems do not report the type in the listing.
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
