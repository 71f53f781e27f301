//! Detects that a file of the store was changed in place.
//!
//! Trees share files, and plugins run as the store's user: a command that writes below the store's directory, by mistake or not, would
//! change what other runs see. So every file gets the same modification time when it is written, executable ones another one, and a file
//! with another time or other permissions is not used again. This costs a check of each file when a tree is used again, a microsecond each,
//! on as many threads as created the tree.
//!
//! A command can set a modification time back, but not the change time (ctime). The change time is recorded when the store writes or links
//! a file. It also changes when a tree with the file is removed, so a file with another change time is read: it is unchanged if its bytes
//! have their recorded digest. Then the new change time is recorded. A change within one tick of the kernel's clock after the store's own,
//! 4 ms on older kernels, keeps the change time and is not detected.
//!
//! Checking change times costs one more `stat` for each written or linked file. It is off while commands cannot write to the store's
//! directory, because each run sees its tree through an overlay ([`Inodes::watch`]).

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Seek as _};
use std::mem::MaybeUninit;
use std::num::NonZeroI64;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};
use std::thread::{self, Builder};

use rustc_hash::FxHashMap;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, Stat, Timespec, Timestamps, fstat, futimens, open, openat,
    statat,
};
use rustix::path::Arg;

use crate::modes::{MODE_EXECUTABLE, file_mode};
use crate::store::seal::{Seal, Sealed};

/// The modification time of an ordinary file, in seconds since 1970: the beginning of 2000, because some archivers support no time before
/// 1980.
const TIME_SECONDS: i64 = 946_684_800;
/// Difference to that of an executable file, so that a change of the mode is detected. Some file systems have steps of two seconds.
const EXECUTABLE_LATER_SECONDS: i64 = 2;
/// Bytes of directory entries read at once.
const NAMES_AT_ONCE_BYTES: usize = 16 * 1024;

/// Marks a complete file with its final mode.
pub(super) fn mark(file: &File, executable: bool) -> io::Result<()> {
    let time = Timespec { tv_sec: time_seconds(executable), tv_nsec: 0 };
    Ok(futimens(file, &Timestamps { last_access: time, last_modification: time })?)
}

/// Number of reads of a file whose change time changes meanwhile, as other threads link it.
const READS_MAX: usize = 4;

/// Number of maps for the files, so that threads rarely wait for each other.
const SHARDS: usize = 16;

/// The change times of the store's files.
#[derive(Debug)]
pub(super) struct Inodes {
    /// Whether change times are checked, too.
    is_watching: AtomicBool,
    /// By inode number. There is an entry for each file, so entries are small.
    shards: [RwLock<FxHashMap<u64, Known>>; SHARDS],
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// The first half of the BLAKE3 digest: 128 bits resist a second preimage.
    digest: [u8; DIGEST_BYTES],
    /// The last change time at which the file had this content.
    changed: Option<ChangeTime>,
}

/// Stored bytes of a digest.
const DIGEST_BYTES: usize = 16;

/// Nanoseconds since 1970.
type ChangeTime = NonZeroI64;

impl Inodes {
    /// Starts or stops checking change times. At the start no existing file is known: they count as changed.
    pub(super) fn watch(&self, watch: bool) {
        if self.is_watching.swap(watch, Ordering::Relaxed) != watch {
            for shard in &self.shards {
                *shard.write().unwrap_or_else(PoisonError::into_inner) = FxHashMap::default();
            }
        }
    }

    /// Whether change times are checked.
    pub(super) fn is_watching(&self) -> bool {
        self.is_watching.load(Ordering::Relaxed)
    }

    /// Records a file that the store has just written and marked.
    pub(super) fn written(&self, file: impl AsFd, digest: [u8; 32]) -> io::Result<()> {
        if !self.is_watching() {
            return Ok(());
        }
        let found = fstat(file)?;
        self.write(found.st_ino)
            .insert(found.st_ino, Known { digest: shortened(&digest), changed: change_time(&found) });
        Ok(())
    }

    /// Records a copy of another file, which is read before it is used.
    pub(super) fn copied(&self, file: impl AsFd, original: impl AsFd) -> io::Result<()> {
        if !self.is_watching() {
            return Ok(());
        }
        let (found, original) = (fstat(file)?, fstat(original)?);
        let digest = self.get(original.st_ino).ok_or(io::ErrorKind::NotFound)?.digest;
        self.write(found.st_ino).insert(found.st_ino, Known { digest, changed: None });
        Ok(())
    }

    /// Records the change time of an unchanged file that the store has just linked to this name.
    pub(super) fn linked(&self, folder: impl AsFd, name: impl Arg) -> io::Result<()> {
        if !self.is_watching() {
            return Ok(());
        }
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if let Some(known) = self.write(found.st_ino).get_mut(&found.st_ino) {
            known.changed = change_time(&found);
        }
        Ok(())
    }

    /// Removes the record of the file if it has no other link.
    pub(super) fn forget(&self, folder: impl AsFd, name: impl Arg) {
        if self.is_watching()
            && let Ok(found) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            && found.st_nlink <= 1
        {
            self.write(found.st_ino).remove(&found.st_ino);
        }
    }

    /// Whether a file is unchanged.
    pub(super) fn is_untouched(&self, folder: impl AsFd, name: impl Arg + Copy) -> io::Result<bool> {
        let found = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if !self.is_watching() {
            return Ok(as_marked(&found));
        }
        match self.get(found.st_ino) {
            Some(known) if known.is_unchanged(&found) => Ok(true),
            Some(_) => self.has_its_bytes(folder, name),
            None => Ok(false),
        }
    }

    /// Reads a file whose change time differs.
    fn has_its_bytes(&self, folder: impl AsFd, name: impl Arg) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder, name, flags, Mode::empty())?);
        let mut before = fstat(&file)?;
        for _ in 0..READS_MAX {
            if !as_marked(&before) {
                break;
            }
            file.rewind()?;
            let digest = shortened(blake3::Hasher::new().update_reader(&file)?.finalize().as_bytes());
            let after = fstat(&file)?;
            let mut known = self.write(after.st_ino);
            let Some(known) = known.get_mut(&after.st_ino).filter(|known| known.digest == digest) else {
                break;
            };
            if as_marked(&after) && change_time(&before) == change_time(&after) {
                known.changed = change_time(&after);
                return Ok(true);
            }
            before = after;
        }
        // It is never used again in any case.
        self.write(before.st_ino).remove(&before.st_ino);
        Ok(false)
    }

    fn get(&self, inode: u64) -> Option<Known> {
        self.shard(inode).read().unwrap_or_else(PoisonError::into_inner).get(&inode).copied()
    }

    fn write(&self, inode: u64) -> RwLockWriteGuard<'_, FxHashMap<u64, Known>> {
        self.shard(inode).write().unwrap_or_else(PoisonError::into_inner)
    }

    fn shard(&self, inode: u64) -> &RwLock<FxHashMap<u64, Known>> {
        let [lowest_byte, ..] = inode.to_le_bytes();
        &self.shards[usize::from(lowest_byte) % SHARDS]
    }
}

impl Default for Inodes {
    fn default() -> Self {
        Self { is_watching: AtomicBool::new(true), shards: Default::default() }
    }
}

impl Known {
    fn is_unchanged(&self, found: &Stat) -> bool {
        as_marked(found) && self.changed.is_some() && self.changed == change_time(found)
    }
}

/// Returns the change time; `None` if it does not fit, which cannot happen before 2262.
fn change_time(stat: &Stat) -> Option<ChangeTime> {
    let nanoseconds = i64::try_from(stat.st_ctime_nsec).ok()?;
    stat.st_ctime.checked_mul(1_000_000_000)?.checked_add(nanoseconds).and_then(NonZeroI64::new)
}

fn shortened(digest: &[u8; 32]) -> [u8; DIGEST_BYTES] {
    let mut half = [0; DIGEST_BYTES];
    half.copy_from_slice(&digest[..DIGEST_BYTES]);
    half
}

/// Whether a tree's directories match its seal, and all its files are unchanged.
pub(super) fn are_untouched(tree: &Path, seal: &Seal, inodes: &Inodes, threads: usize) -> bool {
    let Ok(root) = open(tree, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
        return false;
    };
    let directories: Vec<Sealed<'_>> = seal.directories().collect();
    let (next, touched) = (AtomicUsize::new(0), AtomicBool::new(false));
    let look = || {
        while !touched.load(Ordering::Relaxed) {
            let Some(directory) = directories.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            if !is_untouched(&root, *directory, inodes).unwrap_or(false) {
                touched.store(true, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can be started, this one checks everything.
            let _helping = Builder::new().spawn_scoped(scope, look);
        }
        look();
    });
    !directories.is_empty() && !touched.into_inner()
}

/// Whether a directory and its files are unchanged. Subdirectories are checked separately.
fn is_untouched(root: &OwnedFd, sealed: Sealed<'_>, inodes: &Inodes) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(root, sealed.path(), flags, Mode::empty())?;
    if !sealed.is_as_written(&fstat(&directory)?) {
        return Ok(false);
    }
    let mut names = [MaybeUninit::uninit(); NAMES_AT_ONCE_BYTES];
    let mut entries = RawDir::new(&directory, &mut names);
    let mut to_read: Vec<CString> = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if is_no_file(entry.file_type()) {
            continue;
        }
        let found = statat(&directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
        // Some file systems do not report the type in the listing.
        let kind_was_unknown = entry.file_type() == FileType::Unknown;
        let is_passed_over = kind_was_unknown && is_no_file(FileType::from_raw_mode(found.st_mode));
        if is_passed_over {
            continue;
        }
        if !inodes.is_watching() {
            if as_marked(&found) {
                continue;
            }
            return Ok(false);
        }
        match inodes.get(found.st_ino) {
            Some(known) if known.is_unchanged(&found) => {}
            Some(_) if as_marked(&found) => to_read.push(entry.file_name().to_owned()),
            Some(_) | None => return Ok(false),
        }
    }
    for name in to_read {
        if !inodes.has_its_bytes(&directory, name.as_c_str())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the seal covers it, or it can only be changed by creating it again, which the seal detects.
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
