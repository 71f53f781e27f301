//! Detects that an unpacked tree was changed.
//!
//! Plugins run as the store's user. Where their private working copies are copies, a command can write below the store's directory. So a
//! tree of an archive has a fingerprint: a digest of its paths, and of the inode, size, mode and times of each file and link. A command can
//! set a modification time back, but not the change time (ctime). Each file is looked at when it is written, through its descriptor, so that a
//! change while the rest is unpacked is detected as well.
//!
//! A change within one tick of the kernel's clock after the file was written, 4 ms on older kernels, keeps the change time and is not
//! detected.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat, fstat, openat, statat};
use tiphys_process::removal::work_off;

use crate::path::parent;

/// Bytes of directory entries read at once.
const NAMES_AT_ONCE_BYTES: usize = 16 * 1024;

/// A digest of the paths of a tree, and of the state of its files and links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(blake3::Hash);

/// The entries of a tree by their directories.
#[derive(Debug, Default)]
pub(super) struct Entries(BTreeMap<Box<[u8]>, Directory>);

/// The entries of a directory in any order.
#[derive(Debug, Default)]
struct Directory {
    /// All names, so that a name needs no memory of its own.
    names: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// The end of its name, which begins at the end of the entry before it.
    name_end: usize,
    /// Zeros for a directory: its times change with its entries.
    state: State,
}

/// The state of a file or a link: inode, size, mode, and seconds and nanoseconds of its modification and change times.
type State = [u64; 7];

const NO_STATE: State = [0; 7];

impl Directory {
    fn add(&mut self, name: &[u8], state: State) {
        self.names.extend_from_slice(name);
        self.entries.push(Entry { name_end: self.names.len(), state });
    }

    /// Reads the entries of a directory and adds its subdirectories to a list.
    fn read(root: &OwnedFd, path: &[u8], more: &mut Vec<Box<[u8]>>) -> io::Result<Self> {
        let directory = open(root, if path.is_empty() { b"." } else { path })?;
        let mut found = Self::default();
        let mut buffer = [MaybeUninit::uninit(); NAMES_AT_ONCE_BYTES];
        let mut entries = RawDir::new(&directory, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let mut state = NO_STATE;
            let mut is_directory = entry.file_type() == FileType::Directory;
            if !is_directory {
                let looked = statat(&directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                // Some file systems do not report the type in the listing.
                is_directory = FileType::from_raw_mode(looked.st_mode) == FileType::Directory;
                state = if is_directory { NO_STATE } else { state_of(&looked) };
            }
            if is_directory {
                let slash: &[u8] = if path.is_empty() { b"" } else { b"/" };
                more.push([path, slash, name].concat().into());
            }
            found.add(name, state);
        }
        Ok(found)
    }

    /// Appends the entries in the order of their names. Each name is preceded by its length.
    fn write(&self, text: &mut Vec<u8>) {
        let mut begin = 0;
        let mut entries: Vec<(&[u8], &State)> = Vec::with_capacity(self.entries.len());
        for Entry { name_end, state } in &self.entries {
            entries.push((&self.names[begin..*name_end], state));
            begin = *name_end;
        }
        entries.sort_unstable();
        text.extend_from_slice(&(entries.len() as u64).to_le_bytes());
        for (name, state) in entries {
            text.extend_from_slice(&(name.len() as u64).to_le_bytes());
            text.extend_from_slice(name);
            text.extend_from_slice(state.map(u64::to_le_bytes).as_flattened());
        }
    }
}

impl Entries {
    /// Adds a directory.
    pub(super) fn directory(&mut self, path: &[u8]) {
        self.add(path, NO_STATE);
        self.0.entry(path.into()).or_default();
    }

    /// Adds a file that is written completely.
    pub(super) fn file(&mut self, path: &[u8], file: impl AsFd) -> io::Result<()> {
        self.add(path, state_of(&fstat(file)?));
        Ok(())
    }

    /// Adds a symbolic link, as it is found below the tree's root.
    pub(super) fn link(&mut self, path: &[u8], place: &Path) -> io::Result<()> {
        self.add(path, state_of(&statat(CWD, place, AtFlags::SYMLINK_NOFOLLOW)?));
        Ok(())
    }

    fn add(&mut self, path: &[u8], state: State) {
        let directory = parent(path);
        let name = &path[directory.len()..];
        let name = name.strip_prefix(b"/").unwrap_or(name);
        match self.0.get_mut(directory) {
            Some(found) => found.add(name, state),
            None => self.0.entry(directory.into()).or_default().add(name, state),
        }
    }

    /// Reads the entries of a tree from the file system, on several threads if it is large.
    fn of(root: &Path) -> io::Result<Self> {
        let root = open(CWD, root)?;
        let found = Mutex::new(Self::default());
        work_off(Box::default(), |path: Box<[u8]>, more| {
            let directory = Directory::read(&root, &path, more)?;
            found.lock().unwrap_or_else(PoisonError::into_inner).0.insert(path, directory);
            Ok(())
        })?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the digest of all entries.
    pub(super) fn finish(mut self) -> Fingerprint {
        // An archive may have no entry.
        self.0.entry(Box::default()).or_default();
        let (mut hasher, mut text) = (blake3::Hasher::new(), Vec::new());
        for (path, directory) in self.0 {
            text.extend_from_slice(&(path.len() as u64).to_le_bytes());
            text.extend_from_slice(&path);
            directory.write(&mut text);
            hasher.update(&text);
            text.clear();
        }
        Fingerprint(hasher.finalize())
    }
}

impl Fingerprint {
    /// Whether a tree is as it was unpacked. Takes one or two microseconds for each entry.
    pub(super) fn matches(self, root: &Path) -> bool {
        Entries::of(root).is_ok_and(|entries| entries.finish() == self)
    }
}

fn open(at: impl AsFd, path: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, path, flags, Mode::empty())?)
}

fn state_of(found: &Stat) -> State {
    [
        found.st_ino,
        found.st_size.cast_unsigned(),
        u64::from(found.st_mode),
        found.st_mtime.cast_unsigned(),
        found.st_mtime_nsec,
        found.st_ctime.cast_unsigned(),
        found.st_ctime_nsec,
    ]
}
