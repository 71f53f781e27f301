//! A writable private copy of a directory of the repository, at the same relative path.
//!
//! Directories beside the path to the copy are links, so that `../other` resolves as before. Nothing is written to the repository.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tiphys_tree::NotOpened;

#[derive(Debug, thiserror::Error)]
#[error("cannot copy {path}", path = path.display())]
pub(crate) struct MirrorError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Creates a directory with the structure of the repository: `dir`, relative to the root, is a copy, and everything beside the path to it
/// is a link. Returns the copy.
pub(crate) fn mirror(root: &Path, dir: &Path, to: &Path) -> Result<PathBuf, MirrorError> {
    let way: Vec<(PathBuf, PathBuf, &OsStr)> = dir
        .iter()
        .scan((root.to_path_buf(), to.to_path_buf()), |(from, to), name| {
            let step = (from.clone(), to.clone(), name);
            from.push(name);
            to.push(name);
            Some(step)
        })
        .collect();
    for (_, to, _) in &way {
        make_folder(to)?;
    }
    let copied_to = to.join(dir);
    copy(&root.join(dir), &copied_to)?;
    way.iter().try_for_each(|(from, to, name)| link_others(from, to, name))?;
    Ok(copied_to)
}

/// Links all entries of a directory but one.
fn link_others(from: &Path, to: &Path, but: &OsStr) -> Result<(), MirrorError> {
    for entry in entries(from)?.iter().filter(|entry| entry.file_name() != but) {
        let link = to.join(entry.file_name());
        symlink(entry.path(), &link).map_err(|source| MirrorError { path: entry.path(), source })?;
    }
    Ok(())
}

/// Copies a directory. Links stay links.
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
        } else if kind.is_file() {
            fs::copy(&path, &target).map(drop).map_err(failed)?;
        } else {
            return Err(failed(NotOpened::NoFile.into()));
        }
    }
    Ok(())
}

fn make_folder(path: &Path) -> Result<(), MirrorError> {
    fs::create_dir(path).map_err(|source| MirrorError { path: path.to_path_buf(), source })
}

/// Returns the entries of a directory without `.git`, which is not part of a revision.
fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, MirrorError> {
    let read = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = read.map_err(|source| MirrorError { path: folder.to_path_buf(), source })?;
    entries.retain(|entry| entry.file_name() != ".git");
    Ok(entries)
}
