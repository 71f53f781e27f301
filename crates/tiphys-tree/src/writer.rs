//! Writes a tree. Every entry is checked before anything is created.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tiphys_model::limits::{Limit, Limits};

use crate::containment::LinkSet;
use crate::digest::{Record, RecordKind};
use crate::modes::{MODE_EXECUTABLE, Umask, file_mode};
use crate::path::{is_slash, parent, shown, to_path};
use crate::{EntryPath, Modes, WriteError};

/// Bytes read at once from a file's source.
const CHUNK_BYTES: usize = 128 * 1024;

/// Limits of one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Entries: files, directories and links.
    pub entries_max: u64,
    /// Bytes of all files together.
    pub bytes_max: u64,
}

impl TreeLimits {
    /// A larger repository is usually a mistake.
    pub const DEFAULT: Self = Self {
        entries_max: Limit::TREE_ENTRIES_MAX.default_value(),
        bytes_max: Limit::TREE_BYTES_MAX.default_value(),
    };
}

impl From<&Limits> for TreeLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            entries_max: limits.get(Limit::TREE_ENTRIES_MAX),
            bytes_max: limits.get(Limit::TREE_BYTES_MAX),
        }
    }
}

/// Writes one tree of the store. Parents are created automatically; links are checked when all entries exist.
///
/// Several threads may write entries of one tree concurrently by `&TreeWriter`. After an error the tree is discarded, and the store removes
/// what was written.
#[derive(Debug)]
pub struct TreeWriter {
    root: PathBuf,
    limits: TreeLimits,
    modes: Modes,
    naming: Naming,
    umask: Umask,
    book: Mutex<Book>,
}

/// How the tree gets its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// The name is known.
    Given,
    /// The name is a digest of everything that is written.
    ByContent,
}

/// The entries that were written so far.
#[derive(Debug, Default)]
struct Book {
    /// Directories that this writer created. An existing parent that is not among them is a file or a link.
    directories: HashSet<Box<[u8]>>,
    links: LinkSet,
    entries: u64,
    bytes: u64,
    records: Vec<Record>,
}

/// The result of a writer.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The records of a tree named by its content.
    pub(crate) records: Vec<Record>,
    /// Entries: files, directories and links.
    pub(crate) entries: u64,
    /// Bytes of all files together.
    pub(crate) bytes: u64,
}

impl TreeWriter {
    /// Creates a writer with a new directory at a path that no other code knows.
    pub(crate) fn new(root: PathBuf, limits: TreeLimits, naming: Naming) -> Result<Self, WriteError> {
        let made = DirBuilder::new().mode(MODE_EXECUTABLE).create(&root).and_then(|()| {
            let umask = Umask::seen_at(&root)?;
            umask.mend(MODE_EXECUTABLE, |mode| fs::set_permissions(&root, mode))?;
            Ok(umask)
        });
        match made {
            Ok(umask) => {
                let book = Mutex::new(Book::default());
                Ok(Self { root, limits, modes: Modes::Preserved, naming, umask, book })
            }
            Err(source) => Err(WriteError::Io { path: root, source }),
        }
    }

    /// Sets how executable bits are handled from here on; by default they are kept.
    pub fn set_modes(&mut self, modes: Modes) {
        self.modes = modes;
    }

    /// Adds a directory, which may exist.
    pub fn directory<'p>(&self, path: impl Into<EntryPath<'p>>) -> Result<(), WriteError> {
        let mut book = self.book();
        self.make_directory(&mut book, path.into().as_bytes())
    }

    /// Adds a file with this content.
    pub fn file<'p>(
        &self,
        path: impl Into<EntryPath<'p>>,
        executable: bool,
        content: &[u8],
    ) -> Result<(), WriteError> {
        let path = path.into();
        self.write_whole(&path, executable, content)?;
        if self.naming == Naming::ByContent {
            self.record_file(&path, executable, blake3::hash(content));
        }
        Ok(())
    }

    /// Adds a file with this content and its known digest.
    pub(crate) fn file_hashed<'p>(
        &self,
        path: impl Into<EntryPath<'p>>,
        executable: bool,
        content: &[u8],
        digest: blake3::Hash,
    ) -> Result<(), WriteError> {
        let path = path.into();
        self.write_whole(&path, executable, content)?;
        self.record_file(&path, executable, digest);
        Ok(())
    }

    /// Adds a file with the content of a reader. A failed read is a [`WriteError::Content`].
    pub(crate) fn file_from<'p>(
        &self,
        path: impl Into<EntryPath<'p>>,
        executable: bool,
        content: &mut dyn Read,
    ) -> Result<(), WriteError> {
        self.write_from(&path.into(), executable, content).map(drop)
    }

    /// Like [`Self::file_from`], and returns the written file.
    pub(crate) fn write_from(
        &self,
        path: &EntryPath<'_>,
        executable: bool,
        content: &mut dyn Read,
    ) -> Result<File, WriteError> {
        let mut file = self.create(path, executable, 0)?;
        let mut hasher = blake3::Hasher::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = match content.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(WriteError::Content { path: path.to_string(), source }),
            };
            let bytes = &chunk[..read];
            self.count_bytes(&mut self.book(), u64::try_from(read).unwrap_or(u64::MAX))?;
            file.write_all(bytes).map_err(|source| self.io(path, source))?;
            if self.naming == Naming::ByContent {
                hasher.update(bytes);
            }
        }
        if self.naming == Naming::ByContent {
            self.record_file(path, executable, hasher.finalize());
        }
        Ok(file)
    }

    /// Adds a symbolic link. An absolute target, and one that leads above the root, are rejected.
    pub fn link<'p>(
        &self,
        path: impl Into<EntryPath<'p>>,
        target: impl AsRef<[u8]>,
    ) -> Result<(), WriteError> {
        let (path, target) = (&path.into(), target.as_ref());
        let name = path.as_bytes();
        if !crate::containment::stays_inside_as_written(name, target) {
            return Err(WriteError::LinkOutside { file: path.to_string() });
        }
        let mut book = self.book();
        self.make_room(&mut book, path)?;
        let place = path.below(&self.root);
        std::os::unix::fs::symlink(to_path(target), &place)
            .map_err(|source| self.create_error(path, source))?;
        book.links.add(name, target);
        if self.naming == Naming::ByContent {
            book.records.push(Record { path: name.into(), kind: RecordKind::Link { target: target.into() } });
        }
        Ok(())
    }

    /// Checks the links, when all entries exist.
    pub(crate) fn finish(self) -> Result<Finished, WriteError> {
        let book = self.book.into_inner().unwrap_or_else(PoisonError::into_inner);
        book.links.check().map_err(|file| WriteError::LinkOutside { file })?;
        let mut records = book.records;
        if self.naming == Naming::ByContent {
            records.extend(
                book.directories.into_iter().map(|path| Record { path, kind: RecordKind::Directory }),
            );
        }
        Ok(Finished { records, entries: book.entries, bytes: book.bytes })
    }

    /// Writes a file whose content is not recorded, and returns it.
    pub(crate) fn write_whole(
        &self,
        path: &EntryPath<'_>,
        executable: bool,
        content: &[u8],
    ) -> Result<File, WriteError> {
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let mut file = self.create(path, executable, bytes)?;
        file.write_all(content).map_err(|source| self.io(path, source))?;
        Ok(file)
    }

    /// Creates an empty file with its parents and registers it.
    fn create(&self, path: &EntryPath<'_>, executable: bool, bytes: u64) -> Result<File, WriteError> {
        {
            let mut book = self.book();
            self.make_room(&mut book, path)?;
            self.count_bytes(&mut book, bytes)?;
        }
        let mode = file_mode(self.keeps_executable(executable));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(path.below(&self.root))
            .map_err(|source| self.create_error(path, source))?;
        self.umask.mend(mode, |mode| file.set_permissions(mode)).map_err(|source| self.io(path, source))?;
        Ok(file)
    }

    fn record_file(&self, path: &EntryPath<'_>, executable: bool, digest: blake3::Hash) {
        let kind = RecordKind::file(self.keeps_executable(executable), digest);
        self.book().records.push(Record { path: path.as_bytes().into(), kind });
    }

    fn keeps_executable(&self, executable: bool) -> bool {
        executable && self.modes == Modes::Preserved
    }

    /// Creates the parents of a new file or link, and counts it.
    fn make_room(&self, book: &mut Book, path: &EntryPath<'_>) -> Result<(), WriteError> {
        if path.is_root() || book.directories.contains(path.as_bytes()) {
            return Err(WriteError::Clash { path: path.to_string() });
        }
        self.make_directory(book, parent(path.as_bytes()))?;
        self.count_entry(book)
    }

    fn make_directory(&self, book: &mut Book, path: &[u8]) -> Result<(), WriteError> {
        if path.is_empty() || book.directories.contains(path) {
            return Ok(());
        }
        let known = std::iter::successors(Some(path), |path| Some(parent(path)))
            .find(|path| path.is_empty() || book.directories.contains(*path))
            .map_or(0, <[u8]>::len);
        let ends =
            path.iter().enumerate().skip(known + 1).filter(|(_, byte)| is_slash(byte)).map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            self.count_entry(book)?;
            let directory = &path[..end];
            let place = self.root.join(to_path(directory));
            DirBuilder::new()
                .mode(MODE_EXECUTABLE)
                .create(&place)
                .and_then(|()| self.umask.mend(MODE_EXECUTABLE, |mode| fs::set_permissions(&place, mode)))
                .map_err(|source| match source.kind() {
                    io::ErrorKind::AlreadyExists => WriteError::Clash { path: shown(directory).into_owned() },
                    _ => WriteError::Io { path: place, source },
                })?;
            book.directories.insert(directory.into());
        }
        Ok(())
    }

    fn count_entry(&self, book: &mut Book) -> Result<(), WriteError> {
        let max = self.limits.entries_max;
        book.entries += 1;
        if book.entries > max {
            Err(WriteError::TooManyEntries { max, limit: Limit::TREE_ENTRIES_MAX })
        } else {
            Ok(())
        }
    }

    fn count_bytes(&self, book: &mut Book, bytes: u64) -> Result<(), WriteError> {
        let max = self.limits.bytes_max;
        book.bytes = book.bytes.saturating_add(bytes);
        if book.bytes > max {
            Err(WriteError::TooManyBytes { max, limit: Limit::TREE_BYTES_MAX })
        } else {
            Ok(())
        }
    }

    fn create_error(&self, path: &EntryPath<'_>, source: io::Error) -> WriteError {
        if source.kind() == io::ErrorKind::AlreadyExists {
            WriteError::Clash { path: path.to_string() }
        } else {
            self.io(path, source)
        }
    }

    fn io(&self, path: &EntryPath<'_>, source: io::Error) -> WriteError {
        WriteError::Io { path: path.below(&self.root), source }
    }

    /// After a panic of another thread the state is consistent: it changes in single steps, and the tree is discarded anyway.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
