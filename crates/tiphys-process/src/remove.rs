//! Removal of a folder in which a foreign program could do what it liked.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, chmodat, fchmod, fstat, open, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::parallel::work_off;

/// A path longer than this is shortened by moving its folder up: the system takes no paths beyond 4096 bytes (1024 on macOS), but trees
/// may be deeper.
const PATH_BYTES_MAX: usize = 700;

struct Removal<'a> {
    top: &'a Path,
    device: u64,
    /// Folders in the order of their discovery, so that each comes before those below it.
    folders: Mutex<Vec<PathBuf>>,
    moved_up: AtomicU64,
}

/// Removes a folder with all its content: also folders without permissions, of any depth. Other file systems mounted below it are not
/// entered. Nobody may change the tree meanwhile. A folder that does not exist is no error.
pub(crate) fn remove_tree(top: &Path) -> io::Result<()> {
    let stat = match statat(CWD, top, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(at(top, error)),
    };
    let removal =
        Removal { top, device: device(&stat), folders: Mutex::new(Vec::new()), moved_up: AtomicU64::new(0) };
    work_off(top.to_path_buf(), |folder, more| removal.empty(folder, more))?;
    let folders = removal.folders.into_inner().unwrap_or_else(PoisonError::into_inner);
    for folder in folders.iter().rev() {
        fs::remove_dir(folder).map_err(|error| with_path(folder, &error))?;
    }
    Ok(())
}

impl Removal<'_> {
    /// Removes all but the folders from a folder and lists those.
    fn empty(&self, path: PathBuf, more: &mut Vec<PathBuf>) -> io::Result<()> {
        let folder = open_with_all_rights(&path).map_err(|error| at(&path, error))?;
        if device(&fstat(&folder)?) != self.device {
            return Err(with_path(&path, &"another file system is mounted here"));
        }
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let child = path.join(OsStr::from_bytes(name.to_bytes()));
            if is_folder(&folder, name, entry.file_type()).map_err(|error| at(&child, error))? {
                more.push(self.short(&folder, name, child)?);
            } else {
                unlinkat(&folder, name, AtFlags::empty()).map_err(|error| at(&child, error))?;
            }
        }
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        Ok(())
    }

    fn short(&self, folder: &OwnedFd, name: &CStr, child: PathBuf) -> io::Result<PathBuf> {
        if child.as_os_str().len() <= PATH_BYTES_MAX + self.top.as_os_str().len() {
            return Ok(child);
        }
        loop {
            let number = self.moved_up.fetch_add(1, Ordering::Relaxed);
            let up = self.top.join(format!(".tiphys-removed-{number}"));
            // To change a folder's parent takes the right to write in it.
            let moved = chmodat(folder, name, Mode::RWXU, AtFlags::empty())
                .and_then(|()| renameat(folder, name, CWD, &up));
            match moved {
                Ok(()) => return Ok(up),
                // Somebody has a file of this name.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                Err(error) => return Err(at(&child, error)),
            }
        }
    }
}

fn open_with_all_rights(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match open(path, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            // It was listed as a folder, so this follows no link.
            chmodat(CWD, path, Mode::RWXU, AtFlags::empty())?;
            open(path, flags, Mode::empty())?
        }
        opened => opened?,
    };
    if !Mode::from_raw_mode(fstat(&folder)?.st_mode).contains(Mode::RWXU) {
        fchmod(&folder, Mode::RWXU)?;
    }
    Ok(folder)
}

fn is_folder(folder: &OwnedFd, name: &CStr, listed: FileType) -> rustix::io::Result<bool> {
    if listed != FileType::Unknown {
        return Ok(listed == FileType::Directory);
    }
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

#[cfg_attr(
    target_os = "linux",
    expect(clippy::unnecessary_cast, reason = "device numbers are of another type on macOS")
)]
fn device(stat: &Stat) -> u64 {
    stat.st_dev as u64
}

fn at(path: &Path, error: Errno) -> io::Error {
    with_path(path, &io::Error::from(error))
}

fn with_path(path: &Path, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}
