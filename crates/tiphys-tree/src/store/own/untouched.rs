//! Noticing that a file of the store was changed in place.
//!
//! Files are shared by trees, and plugins run as the store's user: a command that writes below the store's folder, by mistake or not, would
//! change what other runs see. So every file gets one and the same modification time when it is written, an executable one another than the
//! others, and what has another time or other permissions is used no more. It costs a look at each file where a tree is used again, a microsecond apiece, on as many
//! threads as made the tree. What sets the time back on purpose is not noticed; who may do that may also end the server.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Builder};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, Stat, Timespec, Timestamps, fstat, futimens, open, openat,
    statat,
};
use rustix::path::Arg;

use crate::modes::{MODE_EXECUTABLE, file_mode};
use crate::store::seal::{Seal, Sealed};

/// The modification time of an ordinary file, in seconds since 1970: the beginning of 2000, since some archivers know no time before 1980.
const TIME_SECONDS: i64 = 946_684_800;
/// How much later that of an executable file is, so that neither becomes the other by a change of its mode. Some file systems count in twos.
const EXECUTABLE_LATER_SECONDS: i64 = 2;
/// Bytes of a directory's names that are read at once.
const NAMES_AT_ONCE_BYTES: usize = 16 * 1024;

/// Marks a file that is whole and has its mode.
pub(super) fn mark(file: &File, executable: bool) -> io::Result<()> {
    let time = Timespec { tv_sec: time_seconds(executable), tv_nsec: 0 };
    Ok(futimens(file, &Timestamps { last_access: time, last_modification: time })?)
}

/// Whether a file is as it was marked.
pub(super) fn is_marked(folder: impl AsFd, name: impl Arg) -> io::Result<bool> {
    Ok(as_marked(&statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

/// Whether a tree's directories are as its seal says, and all files in them as they were marked.
pub(super) fn are_untouched(tree: &Path, seal: &Seal, threads: usize) -> bool {
    let Ok(root) = open(tree, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
        return false;
    };
    let directories: Vec<Sealed<'_>> = seal.directories().collect();
    let (next, touched) = (AtomicUsize::new(0), AtomicBool::new(false));
    let look = || {
        while !touched.load(Ordering::Relaxed) {
            let Some(directory) = directories.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            if !is_untouched(&root, *directory).unwrap_or(false) {
                touched.store(true, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If there is no thread to be had, this one looks at everything.
            let _helping = Builder::new().spawn_scoped(scope, look);
        }
        look();
    });
    !directories.is_empty() && !touched.into_inner()
}

/// Whether a directory and the files in it are as they were. The directories in it are others.
fn is_untouched(root: &OwnedFd, sealed: Sealed<'_>) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(root, sealed.path(), flags, Mode::empty())?;
    if !sealed.is_as_written(&fstat(&directory)?) {
        return Ok(false);
    }
    let mut names = [MaybeUninit::uninit(); NAMES_AT_ONCE_BYTES];
    let mut entries = RawDir::new(&directory, &mut names);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if is_no_file(entry.file_type()) {
            continue;
        }
        let found = statat(&directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
        // Some file systems say only here what it is.
        let kind_was_unknown = entry.file_type() == FileType::Unknown;
        let is_passed_over = kind_was_unknown && is_no_file(FileType::from_raw_mode(found.st_mode));
        if !is_passed_over && !as_marked(&found) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether it is what a seal tells of, or is changed only by making it anew, which a seal tells, too.
fn is_no_file(kind: FileType) -> bool {
    matches!(kind, FileType::Directory | FileType::Symlink)
}

fn as_marked(stat: &Stat) -> bool {
    let mode = stat.st_mode & 0o7777;
    let executable = mode == MODE_EXECUTABLE;
    FileType::from_raw_mode(stat.st_mode).is_file()
        && mode == file_mode(executable)
        && (stat.st_mtime, stat.st_mtime_nsec) == (time_seconds(executable), 0)
}

fn time_seconds(executable: bool) -> i64 {
    if executable { TIME_SECONDS + EXECUTABLE_LATER_SECONDS } else { TIME_SECONDS }
}
