//! Copies a tree by reflinks if the file system supports them, else by bytes. Never by hard links, which would share the inode.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::removal::work_off;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_OMIT, chmod, fstat,
    futimens, mkdirat, open, openat, readlinkat, symlinkat, utimensat,
};
use rustix::process::umask;

/// Bytes copied at once.
const CHUNK_BYTES_MAX: usize = 128 * 1024;

struct Copying {
    /// Cleared when the file system has no reflinks.
    try_reflink: AtomicBool,
    /// Directories that get a mode without all owner rights after their content is copied.
    restricted: Mutex<Vec<(PathBuf, Mode)>>,
}

struct Directory {
    from: PathBuf,
    to: PathBuf,
}

/// Copies files, directories and links with modes and modification times to a path that does not exist. Changes the umask of the process
/// meanwhile, so no other code may make files.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let mask = umask(Mode::empty());
    let copied = copy_with_modes(from, to);
    umask(mask);
    copied
}

fn copy_with_modes(from: &Path, to: &Path) -> io::Result<()> {
    let copying = Copying { try_reflink: AtomicBool::new(true), restricted: Mutex::new(Vec::new()) };
    mkdirat(CWD, to, Mode::RWXU).map_err(|error| at(to, error.into()))?;
    let first = Directory { from: from.to_path_buf(), to: to.to_path_buf() };
    work_off(first, |directory, more| copying.directory(&directory, more))?;
    let restricted = copying.restricted.into_inner().unwrap_or_else(PoisonError::into_inner);
    // In reverse: parents come first, and a directory cannot be reached after its parent is closed.
    for (path, mode) in restricted.into_iter().rev() {
        chmod(&path, mode).map_err(|error| at(&path, error.into()))?;
    }
    Ok(())
}

impl Copying {
    fn directory(&self, directory: &Directory, more: &mut Vec<Directory>) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let from =
            open(&directory.from, flags, Mode::empty()).map_err(|error| at(&directory.from, error.into()))?;
        let to =
            open(&directory.to, flags, Mode::empty()).map_err(|error| at(&directory.to, error.into()))?;
        let stat = fstat(&from)?;
        let mut chunk = Vec::new();
        for entry in Dir::read_from(&from)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let path = || directory.from.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
            let copied = match kind(&from, name, entry.file_type()) {
                Ok(FileType::RegularFile) => self.file(&from, &to, name, &mut chunk),
                Ok(FileType::Symlink) => copy_link(&from, &to, name),
                Ok(FileType::Directory) => mkdirat(&to, name, Mode::RWXU).map_err(Into::into).map(|()| {
                    let to = directory.to.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
                    more.push(Directory { from: path(), to });
                }),
                Ok(_) => {
                    Err(io::Error::new(io::ErrorKind::Unsupported, "not a file, directory or symbolic link"))
                }
                Err(error) => Err(error),
            };
            copied.map_err(|error| at(&path(), error))?;
        }
        // Later steps change only the content of subdirectories, so this time stays.
        futimens(&to, &modified(&stat))?;
        let mode = Mode::from_raw_mode(stat.st_mode);
        if mode.contains(Mode::RWXU) {
            rustix::fs::fchmod(&to, mode)?;
        } else {
            self.restricted.lock().unwrap_or_else(PoisonError::into_inner).push((directory.to.clone(), mode));
        }
        Ok(())
    }

    fn file(
        &self,
        from: &OwnedFd,
        to: &OwnedFd,
        name: &std::ffi::CStr,
        chunk: &mut Vec<u8>,
    ) -> io::Result<()> {
        let source = openat(from, name, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?;
        let stat = fstat(&source)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let target = openat(to, name, flags, Mode::from_raw_mode(stat.st_mode))?;
        if stat.st_size > 0 && !self.reflink(&source, &target) {
            copy_bytes(&source, &target, u64::try_from(stat.st_size).unwrap_or(0), chunk)?;
        }
        futimens(&target, &modified(&stat))?;
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn reflink(&self, source: &OwnedFd, target: &OwnedFd) -> bool {
        if !self.try_reflink.load(Ordering::Relaxed) {
            return false;
        }
        let linked = rustix::fs::ioctl_ficlone(target, source).is_ok();
        if !linked {
            self.try_reflink.store(false, Ordering::Relaxed);
        }
        linked
    }

    #[cfg(not(target_os = "linux"))]
    fn reflink(&self, _source: &OwnedFd, _target: &OwnedFd) -> bool {
        self.try_reflink.store(false, Ordering::Relaxed);
        false
    }
}

/// Returns the type of an entry. Some file systems do not report it in the listing.
fn kind(directory: &OwnedFd, name: &std::ffi::CStr, listed: FileType) -> io::Result<FileType> {
    if listed != FileType::Unknown {
        return Ok(listed);
    }
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

fn copy_link(from: &OwnedFd, to: &OwnedFd, name: &std::ffi::CStr) -> io::Result<()> {
    let stat = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let target: CString = readlinkat(from, name, Vec::new())?;
    symlinkat(&target, to, name)?;
    utimensat(to, name, &modified(&stat), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

/// Copies the content of a file. Most files are small: one read and one write.
fn copy_bytes(
    source: &OwnedFd,
    target: &OwnedFd,
    expected_bytes: u64,
    chunk: &mut Vec<u8>,
) -> io::Result<()> {
    let wanted = usize::try_from(expected_bytes).unwrap_or(CHUNK_BYTES_MAX).min(CHUNK_BYTES_MAX);
    if chunk.len() < wanted {
        chunk.resize(wanted, 0);
    }
    let mut copied: u64 = 0;
    while copied < expected_bytes {
        let read = rustix::io::retry_on_intr(|| rustix::io::read(source, &mut *chunk))?;
        let mut rest = chunk.get(..read).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        copied += read as u64;
        while !rest.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::write(target, rest))?;
            rest = rest.get(written..).unwrap_or_default();
        }
    }
    Ok(())
}

fn modified(stat: &Stat) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec {
            tv_sec: stat.st_mtime,
            tv_nsec: stat.st_mtime_nsec.try_into().unwrap_or(0),
        },
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is the argument of map_err")]
fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
