//! Noticing that a file of the store was changed in place.
//!
//! Files are shared by trees, and plugins run as the store's user: a command that writes below the store's folder, by mistake or not, would
//! change what other runs see. So every file gets one and the same modification time when it is written, and what has another one, or
//! other permissions, is used no more. It costs a look at each file where a tree is used again, a microsecond apiece. What sets the time back
//! on purpose is not noticed; who may do that may also end the server.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, futimens, openat, statat,
};
use rustix::path::Arg;

use crate::modes::{MODE_EXECUTABLE, file_mode};

/// The modification time of every file, in seconds since 1970: the beginning of 2000, since some archivers know no time before 1980.
const TIME_SECONDS: i64 = 946_684_800;

/// Marks a file that is whole.
pub(super) fn mark(file: &File) -> io::Result<()> {
    let time = Timespec { tv_sec: TIME_SECONDS, tv_nsec: 0 };
    Ok(futimens(file, &Timestamps { last_access: time, last_modification: time })?)
}

/// Whether a file is as it was marked.
pub(super) fn is_marked(folder: impl AsFd, name: impl Arg) -> io::Result<bool> {
    Ok(as_marked(&statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

/// Whether all files of a tree are as they were marked. That no entry came or went is for the tree's seal to say.
pub(super) fn are_marked(tree: &Path) -> io::Result<bool> {
    let mut todo = vec![PathBuf::from(tree)];
    while let Some(path) = todo.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(CWD, &path, flags, Mode::empty())?;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name: &CStr = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match entry.file_type() {
                FileType::Directory => todo.push(path.join(name.to_string_lossy().as_ref())),
                FileType::Symlink => {}
                _ if !is_marked(&folder, name)? => return Ok(false),
                _ => {}
            }
        }
    }
    Ok(true)
}

fn as_marked(stat: &Stat) -> bool {
    let mode = stat.st_mode & 0o7777;
    FileType::from_raw_mode(stat.st_mode).is_file()
        && (stat.st_mtime, stat.st_mtime_nsec) == (TIME_SECONDS, 0)
        && (mode == MODE_EXECUTABLE || mode == file_mode(false))
}
