//! Removal of a folder in which a foreign program could do what it liked, mounting other folders into it included.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, chmodat, fchmod, fstat, open, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::parallel::work_off;

/// A path longer than this is shortened by moving its folder up: the system takes no paths beyond 4096 bytes (1024 on macOS), but trees
/// may be deeper.
const PATH_BYTES_MAX: usize = 700;

/// What a path is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A mount, by its number.
    Mount(u64),
    /// A device, where the system does not tell the mount. A folder of the same device can be mounted elsewhere, and is not told apart then.
    Device(u64),
}

struct Removal<'a> {
    top: &'a Path,
    place: Place,
    /// Folders in the order of their discovery, so that each comes before those below it.
    folders: Mutex<Vec<PathBuf>>,
    /// Where something is mounted.
    mounted: Mutex<Vec<PathBuf>>,
    moved_up: AtomicU64,
}

/// Removes a folder with all its content: also folders without permissions, of any depth. Links are removed, never followed. Nobody may change
/// the tree meanwhile but by removing it, too. What does not exist is no error.
///
/// What is mounted at the folder or below it, of the same device or another one, is neither entered nor changed. It stays with the folders
/// above it, and is an error ([`is_mounted_below`]) after all else is gone.
pub fn remove_tree(top: &Path) -> io::Result<()> {
    let place = match place(top) {
        Ok(place) => place,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(at(top, error)),
    };
    if !fs::symlink_metadata(top).is_ok_and(|top| top.is_dir()) {
        return gone(fs::remove_file(top)).map_err(|error| with_path(top, &error));
    }
    let above = top.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if self::place(above).map_err(|error| at(above, error))? != place {
        return Err(mounted_at(&[top.to_path_buf()]));
    }
    let removal = Removal {
        top,
        place,
        folders: Mutex::default(),
        mounted: Mutex::default(),
        moved_up: AtomicU64::new(0),
    };
    work_off(top.to_path_buf(), |folder, more| removal.empty(folder, more))?;
    let folders = removal.folders.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mounted = removal.mounted.into_inner().unwrap_or_else(PoisonError::into_inner);
    for folder in folders.iter().rev() {
        // Those that something is mounted in are not empty.
        if !mounted.iter().any(|mounted| mounted.starts_with(folder)) {
            gone(fs::remove_dir(folder)).map_err(|error| with_path(folder, &error))?;
        }
    }
    if mounted.is_empty() { Ok(()) } else { Err(mounted_at(&mounted)) }
}

/// As [`remove_tree`], for those whom nobody hears. What stays because of a mount is told in the log: it is there until somebody unmounts it.
pub fn remove_tree_or_tell(top: &Path) {
    if let Err(error) = remove_tree(top)
        && is_mounted_below(&error)
    {
        tracing::warn!(%error, "a folder stays");
    }
}

/// Whether a folder was not removed for the only reason that something is mounted there.
pub fn is_mounted_below(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}

impl Removal<'_> {
    /// Removes all but the folders from a folder and lists those.
    fn empty(&self, path: PathBuf, more: &mut Vec<PathBuf>) -> io::Result<()> {
        // Before anything is done to it, its mode included.
        match place(&path) {
            Ok(place) if place == self.place => {}
            Ok(_mounted) => {
                self.mounted.lock().unwrap_or_else(PoisonError::into_inner).push(path);
                return Ok(());
            }
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(at(&path, error)),
        }
        let folder = match open_with_all_rights(&path) {
            Err(Errno::NOENT) => return Ok(()),
            opened => opened.map_err(|error| at(&path, error))?,
        };
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let child = path.join(OsStr::from_bytes(name.to_bytes()));
            if is_folder(&folder, name, entry.file_type()).map_err(|error| at(&child, error))? {
                more.extend(self.short(&folder, name, child)?);
                continue;
            }
            match unlinkat(&folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                // A file can be mounted over a file.
                Err(Errno::BUSY) => self.mounted.lock().unwrap_or_else(PoisonError::into_inner).push(child),
                Err(error) => return Err(at(&child, error)),
            }
        }
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        Ok(())
    }

    /// Where a folder is to be emptied; `None` if something is mounted there, which can be neither reached nor moved, or if it is gone.
    fn short(&self, folder: &OwnedFd, name: &CStr, child: PathBuf) -> io::Result<Option<PathBuf>> {
        if child.as_os_str().len() <= PATH_BYTES_MAX + self.top.as_os_str().len() {
            return Ok(Some(child));
        }
        if place_at(folder, name).map_err(|error| at(&child, error))? != self.place {
            self.mounted.lock().unwrap_or_else(PoisonError::into_inner).push(child);
            return Ok(None);
        }
        loop {
            let number = self.moved_up.fetch_add(1, Ordering::Relaxed);
            let up = self.top.join(format!(".tiphys-removed-{number}"));
            // To change a folder's parent takes the right to write in it.
            let moved = chmodat(folder, name, Mode::RWXU, AtFlags::empty())
                .and_then(|()| renameat(folder, name, CWD, &up));
            match moved {
                Ok(()) => return Ok(Some(up)),
                // Somebody has a file of this name.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                Err(Errno::NOENT) => return Ok(None),
                Err(error) => return Err(at(&child, error)),
            }
        }
    }
}

fn place(path: &Path) -> rustix::io::Result<Place> {
    place_at(CWD, path)
}

/// Of what a name in a folder is part, no link followed.
fn place_at(folder: impl AsFd, name: impl Arg) -> rustix::io::Result<Place> {
    let name = name.into_c_str()?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{StatxFlags, statx};
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        match statx(&folder, &*name, flags, StatxFlags::MNT_ID) {
            Ok(told) if StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::MNT_ID) => {
                return Ok(Place::Mount(told.stx_mnt_id));
            }
            // Old kernels, and containers that allow what was known when they were made.
            Ok(_) | Err(Errno::NOSYS | Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    let stat = statat(&folder, &*name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Place::Device(device(&stat)))
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

/// What somebody else has removed is removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        answer => answer,
    }
}

fn mounted_at(mounted: &[PathBuf]) -> io::Error {
    let mounted: Vec<String> = mounted.iter().map(|path| path.display().to_string()).collect();
    let text =
        format!("something is mounted at {}: unmount it, what is mounted is not touched", mounted.join(", "));
    io::Error::new(io::ErrorKind::CrossesDevices, text)
}

fn with_path(path: &Path, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
