//! A folder of the repository as a private copy that can be written to, with everything around it where it was.
//!
//! Folders beside the way to the copy are seen through links, so that `../other` is what it was. Nothing is written to the repository.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A copy that could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot copy {path}", path = path.display())]
pub(crate) struct MirrorError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Makes a folder that looks like the repository: the folder `dir`, relative to the root, is a copy, everything beside the way to it is a
/// link. Gives the copy.
pub(crate) fn mirror(root: &Path, dir: &Path, to: &Path) -> Result<PathBuf, MirrorError> {
    let (mut from, mut to) = (root.to_path_buf(), to.to_path_buf());
    for name in dir {
        make_folder(&to)?;
        for entry in entries(&from)? {
            if entry.file_name() != name {
                let link = to.join(entry.file_name());
                symlink(entry.path(), &link).map_err(|source| MirrorError { path: entry.path(), source })?;
            }
        }
        from.push(name);
        to.push(name);
    }
    copy(&from, &to)?;
    Ok(to)
}

/// Copies a folder. Links stay links.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), MirrorError> {
    make_folder(to)?;
    for entry in entries(from)? {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let failed = |source| MirrorError { path: path.clone(), source };
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            copy(&path, &target)?;
        } else if kind.is_symlink() {
            fs::read_link(&path).and_then(|link| symlink(link, &target)).map_err(failed)?;
        } else {
            fs::copy(&path, &target).map(drop).map_err(failed)?;
        }
    }
    Ok(())
}

fn make_folder(path: &Path) -> Result<(), MirrorError> {
    fs::create_dir(path).map_err(|source| MirrorError { path: path.to_path_buf(), source })
}

/// What is in a folder; git's own is nothing of a revision.
fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, MirrorError> {
    let read = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = read.map_err(|source| MirrorError { path: folder.to_path_buf(), source })?;
    entries.retain(|entry| entry.file_name() != ".git");
    Ok(entries)
}
