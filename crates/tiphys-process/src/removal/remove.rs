//! Removes a directory tree in which an untrusted program wrote, and may have mounted other directories.

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

use crate::removal::parallel::work_off;

/// A longer path is shortened by moving its directory up: the system accepts at most 4096 bytes (1024 on macOS), but trees may be deeper.
const PATH_BYTES_MAX: usize = 700;

/// The file system that a path is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileSystem {
    /// A mount, by its ID.
    Mount(u64),
    /// A device, if the system does not report the mount. Then a directory of the same device that is mounted elsewhere is not
    /// distinguished.
    Device(u64),
}

struct Removal<'a> {
    top: &'a Path,
    file_system: FileSystem,
    /// Directories in the order of their discovery: parents come first.
    directories: Mutex<Vec<PathBuf>>,
    /// Mount points.
    mounted: Mutex<Vec<PathBuf>>,
    moved_up: AtomicU64,
}

/// Removes a directory with its content, also without permissions and of any depth. Symbolic links are removed, never followed. No other
/// process may change the tree meanwhile, except by removing it. A missing path is not an error.
///
/// Mounts at the directory or below it, of any device, are neither entered nor changed. They stay with the directories above them, and the
/// result is an error ([`is_mounted_below`]) after everything else was removed.
pub fn remove_tree(top: &Path) -> io::Result<()> {
    let file_system = match file_system(top) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(at(top, error)),
    };
    if !fs::symlink_metadata(top).is_ok_and(|top| top.is_dir()) {
        return ignore_missing(fs::remove_file(top)).map_err(|error| with_path(top, &error));
    }
    let above = top.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if self::file_system(above).map_err(|error| at(above, error))? != file_system {
        return Err(mounted_at(&[top.to_path_buf()]));
    }
    let removal = Removal {
        top,
        file_system,
        directories: Mutex::default(),
        mounted: Mutex::default(),
        moved_up: AtomicU64::new(0),
    };
    work_off(top.to_path_buf(), |directory, more| removal.empty(directory, more))?;
    let directories = removal.directories.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mounted = removal.mounted.into_inner().unwrap_or_else(PoisonError::into_inner);
    for directory in directories.iter().rev() {
        // Directories with mounts are not empty.
        if !mounted.iter().any(|mounted| mounted.starts_with(directory)) {
            ignore_missing(fs::remove_dir(directory)).map_err(|error| with_path(directory, &error))?;
        }
    }
    if mounted.is_empty() { Ok(()) } else { Err(mounted_at(&mounted)) }
}

/// Like [`remove_tree`] for callers that cannot return the error. Logs directories that stay because of a mount: they exist until it is
/// unmounted.
pub fn remove_tree_or_log(top: &Path) {
    if let Err(error) = remove_tree(top)
        && is_mounted_below(&error)
    {
        tracing::warn!(%error, "a directory with a mount is not removed");
    }
}

/// Whether a directory was not removed only because of a mount.
pub fn is_mounted_below(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}

impl Removal<'_> {
    /// Removes the files of a directory and adds its subdirectories to the list.
    fn empty(&self, path: PathBuf, more: &mut Vec<PathBuf>) -> io::Result<()> {
        // Checked before any change, including that of its mode.
        match file_system(&path) {
            Ok(found) if found == self.file_system => {}
            Ok(_mounted) => {
                self.mounted.lock().unwrap_or_else(PoisonError::into_inner).push(path);
                return Ok(());
            }
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(at(&path, error)),
        }
        let directory = match open_with_all_rights(&path) {
            Err(Errno::NOENT) => return Ok(()),
            opened => opened.map_err(|error| at(&path, error))?,
        };
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let child = path.join(OsStr::from_bytes(name.to_bytes()));
            if is_directory(&directory, name, entry.file_type()).map_err(|error| at(&child, error))? {
                more.extend(self.short(&directory, name, child)?);
                continue;
            }
            match unlinkat(&directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                // A file can be mounted on a file.
                Err(Errno::BUSY) => self.mounted.lock().unwrap_or_else(PoisonError::into_inner).push(child),
                Err(error) => return Err(at(&child, error)),
            }
        }
        self.directories.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        Ok(())
    }

    /// Returns the path at which a directory is emptied; `None` if it is a mount point, which can be neither reached nor moved, or if it
    /// does not exist.
    fn short(&self, directory: &OwnedFd, name: &CStr, child: PathBuf) -> io::Result<Option<PathBuf>> {
        if child.as_os_str().len() <= PATH_BYTES_MAX + self.top.as_os_str().len() {
            return Ok(Some(child));
        }
        if file_system_at(directory, name).map_err(|error| at(&child, error))? != self.file_system {
            self.mounted.lock().unwrap_or_else(PoisonError::into_inner).push(child);
            return Ok(None);
        }
        loop {
            let number = self.moved_up.fetch_add(1, Ordering::Relaxed);
            let up = self.top.join(format!(".tiphys-removed-{number}"));
            // Moving a directory to another parent requires write permission for it.
            let moved = chmodat(directory, name, Mode::RWXU, AtFlags::empty())
                .and_then(|()| renameat(directory, name, CWD, &up));
            match moved {
                Ok(()) => return Ok(Some(up)),
                // A file of this name exists.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                Err(Errno::NOENT) => return Ok(None),
                Err(error) => return Err(at(&child, error)),
            }
        }
    }
}

fn file_system(path: &Path) -> rustix::io::Result<FileSystem> {
    file_system_at(CWD, path)
}

/// Returns the file system of a name in a directory, without following a link.
fn file_system_at(directory: impl AsFd, name: impl Arg) -> rustix::io::Result<FileSystem> {
    let name = name.into_c_str()?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{StatxFlags, statx};
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        match statx(&directory, &*name, flags, StatxFlags::MNT_ID) {
            Ok(stat) if StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::MNT_ID) => {
                return Ok(FileSystem::Mount(stat.stx_mnt_id));
            }
            // Old kernels, and containers whose seccomp profile does not know the call.
            Ok(_) | Err(Errno::NOSYS | Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    let stat = statat(&directory, &*name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileSystem::Device(device(&stat)))
}

fn open_with_all_rights(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = match open(path, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            // It was listed as a directory, so this follows no link.
            chmodat(CWD, path, Mode::RWXU, AtFlags::empty())?;
            open(path, flags, Mode::empty())?
        }
        opened => opened?,
    };
    if !Mode::from_raw_mode(fstat(&directory)?.st_mode).contains(Mode::RWXU) {
        fchmod(&directory, Mode::RWXU)?;
    }
    Ok(directory)
}

fn is_directory(directory: &OwnedFd, name: &CStr, listed: FileType) -> rustix::io::Result<bool> {
    if listed != FileType::Unknown {
        return Ok(listed == FileType::Directory);
    }
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
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

/// Treats a file that was removed meanwhile as removed.
fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        answer => answer,
    }
}

fn mounted_at(mounted: &[PathBuf]) -> io::Error {
    let mounted: Vec<String> = mounted.iter().map(|path| path.display().to_string()).collect();
    let text = format!("mounted directories are not removed: {}; unmount them", mounted.join(", "));
    io::Error::new(io::ErrorKind::CrossesDevices, text)
}

fn with_path(path: &Path, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
