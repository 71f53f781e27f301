//! Creates trees of working copies, and copies trees.
//!
//! Uses several threads: each one handles a contiguous part of the files, which are in few directories.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::num::NonZero;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tiphys_model::limits::Limit;

use super::{Store, Tree};
use crate::digest::{self, Record, RecordKind};
use crate::path::parent;
use crate::reader::{DirectoryReader, Found, WHOLE_FILE_BYTES_MAX, append_whole};
use crate::writer::Naming;
use crate::{EntryPath, Modes, StoreError, TreeLimits, TreeWriter, WriteError};

/// Maximum threads for one tree. More of them only wait for each other in the file system.
const THREADS_MAX: usize = 4;
/// Number of files that justify another thread.
const FILES_PER_THREAD_MIN: usize = 64;
/// Bytes of content kept in memory between hashing and writing; the rest is read twice.
const KEPT_BYTES_MAX: u64 = 128 * 1024 * 1024;

impl Store {
    /// Creates the tree of the listed files of a directory in their current state, with uncommitted changes.
    ///
    /// Written only if the store has no tree with this content. Links are stored as links, and nothing behind a link is read. Missing
    /// files, sockets, pipes and devices are ignored; a listed directory (a submodule) is empty unless files in it are listed. `salt` is
    /// part of the name.
    pub fn tree_of_directory(
        &self,
        root: &Path,
        files: impl Iterator<Item: Into<EntryPath<'static>>>,
        modes: Modes,
        salt: &[u8],
    ) -> Result<Tree, StoreError> {
        let mut files: Vec<EntryPath<'_>> = files.map(Into::into).collect();
        files.sort_unstable();
        files.dedup();
        let budget = Budget { limits: self.limits, bytes: AtomicU64::new(0), kept: AtomicU64::new(0) };
        let parts = in_parts(&files, |part| Part::read(root, part, &budget))?;
        let mut records = records(&parts, modes);
        if let Some(tree) = self.get(digest::key(salt, &mut records)) {
            return Ok(tree);
        }
        let (home, mut writer) = self.stage(Naming::ByContent)?;
        writer.set_modes(modes);
        on_threads(&parts, |part| part.write(root, &writer))?;
        // Files that are read twice may have changed in between, so the name is computed from what was written.
        let mut finished = writer.finish()?;
        home.keep(digest::key(salt, &mut finished.records), &finished)
    }
}

impl Tree {
    /// Copies the tree to a new directory in `parent` with this name prefix, and returns its path. It is never removed: it is for
    /// inspection by the user.
    pub fn copy_below(&self, parent: &Path, prefix: &str) -> Result<PathBuf, StoreError> {
        let failed = |source| StoreError::Io { action: "copy a tree to", path: parent.to_path_buf(), source };
        fs::create_dir_all(parent).map_err(failed)?;
        // A plugin's name may contain any characters; a directory's must not.
        let prefix: String = prefix.chars().map(|c| if c == '/' || c == '\0' { '_' } else { c }).collect();
        let dir =
            tempfile::Builder::new().prefix(&format!("{prefix}-")).tempdir_in(parent).map_err(failed)?;
        let place = dir.path().join("tree");
        copy(self, &place)?;
        // Nothing fails from here on, so no incomplete copy remains.
        drop(dir.keep());
        Ok(place)
    }

    /// Copies the tree to a new path in an existing directory. The copy shares no files with the tree.
    pub fn copy_to(&self, place: &Path) -> Result<(), StoreError> {
        copy(self, place)
    }
}

/// An entry at a listed path.
pub enum DirectoryEntry<'a> {
    /// A link, which is not followed.
    Link {
        /// Its target as written.
        target: &'a [u8],
    },
    /// A file.
    File {
        /// Whether its owner may execute it.
        executable: bool,
        /// Its size in bytes when it was opened.
        bytes: u64,
        /// Its content.
        content: &'a mut dyn Read,
    },
}

/// Reads the listed files of a directory on several threads, and returns the results of `look` in the order of the list. Nothing behind a
/// link is read. Missing files, directories, sockets, pipes and devices are ignored.
pub fn look_at_files<'a, P: Sync, R: Send>(
    root: &Path,
    files: &'a [P],
    limits: TreeLimits,
    look: impl Fn(DirectoryEntry<'_>) -> io::Result<R> + Sync,
) -> Result<Vec<(&'a P, R)>, StoreError>
where
    &'a P: Into<EntryPath<'a>>,
{
    let budget = Budget { limits, bytes: AtomicU64::new(0), kept: AtomicU64::new(0) };
    let parts = in_parts(files, |part| {
        let mut reader = DirectoryReader::open(root).map_err(StoreError::io("read", root))?;
        let mut seen = Vec::with_capacity(part.len());
        for path in part {
            let entry_path = path.into();
            let failed = |source| StoreError::Io { action: "read", path: entry_path.below(root), source };
            let entry = match reader.find(&entry_path).map_err(failed)? {
                Found::Directory | Found::Nothing => continue,
                Found::Link(target) => look(DirectoryEntry::Link { target: &target }),
                Found::File { executable, bytes, mut file } => {
                    budget.count(bytes)?;
                    look(DirectoryEntry::File { executable, bytes, content: &mut file })
                }
            };
            seen.push((path, entry.map_err(failed)?));
        }
        Ok(seen)
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// Copies a tree of the store to a new path.
fn copy(tree: &Tree, to: &Path) -> Result<(), StoreError> {
    let limits = TreeLimits { entries_max: u64::MAX, bytes_max: u64::MAX };
    let writer = TreeWriter::new(to.to_path_buf(), limits, Naming::Given)?;
    let entries = entries_below(tree.root())?;
    in_parts(&entries, |part| {
        let mut reader = DirectoryReader::open(tree.root()).map_err(StoreError::io("read", tree.root()))?;
        let mut buffer = Vec::new();
        for path in part {
            let failed = |source| StoreError::Io { action: "read", path: path.below(tree.root()), source };
            match reader.find(path).map_err(failed)? {
                Found::Directory => writer.directory(path)?,
                Found::Link(target) => writer.link(path, &target)?,
                Found::File { executable, bytes, mut file } if bytes <= WHOLE_FILE_BYTES_MAX => {
                    buffer.clear();
                    append_whole(&mut file, bytes, &mut buffer).map_err(failed)?;
                    writer.file(path, executable, &buffer)?;
                }
                Found::File { executable, mut file, .. } => writer.file_from(path, executable, &mut file)?,
                Found::Nothing => {}
            }
        }
        Ok(())
    })?;
    // The tree's links were checked when it was written.
    Ok(())
}

/// Returns all entries of a tree, sorted.
fn entries_below(root: &Path) -> Result<Vec<EntryPath<'static>>, StoreError> {
    let mut entries = Vec::new();
    let mut todo = vec![EntryPath::default()];
    while let Some(directory) = todo.pop() {
        let place = directory.below(root);
        for entry in fs::read_dir(&place).map_err(StoreError::io("read", &place))? {
            let entry = entry.map_err(StoreError::io("read", &place))?;
            let path = directory.join(entry.file_name().as_bytes()).map_err(WriteError::Path)?;
            if entry.file_type().map_err(StoreError::io("read", &place))?.is_dir() {
                todo.push(path.clone());
            }
            entries.push(path);
        }
    }
    entries.sort_unstable();
    Ok(entries)
}

/// State shared by the threads of one read.
struct Budget {
    limits: TreeLimits,
    bytes: AtomicU64,
    kept: AtomicU64,
}

impl Budget {
    /// Counts a file before it is read.
    fn count(&self, bytes: u64) -> Result<(), StoreError> {
        let max = self.limits.bytes_max;
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > max {
            Err(WriteError::TooManyBytes { max, limit: Limit::TREE_BYTES_MAX }.into())
        } else {
            Ok(())
        }
    }

    /// Whether a file's content may stay in memory.
    fn keeps(&self, bytes: u64) -> bool {
        bytes <= WHOLE_FILE_BYTES_MAX && self.kept.fetch_add(bytes, Ordering::Relaxed) < KEPT_BYTES_MAX
    }
}

/// The result of one thread.
#[derive(Default)]
struct Part<'a> {
    entries: Vec<(&'a EntryPath<'a>, What)>,
    /// The kept contents, concatenated.
    contents: Vec<u8>,
}

enum What {
    Directory,
    Link { target: Vec<u8> },
    File { executable: bool, digest: blake3::Hash, kept: Option<Range<usize>> },
}

impl<'a> Part<'a> {
    fn read(root: &Path, files: &'a [EntryPath<'a>], budget: &Budget) -> Result<Self, StoreError> {
        let mut reader = DirectoryReader::open(root).map_err(StoreError::io("read", root))?;
        let mut part = Part::default();
        for path in files {
            let what = match reader.find(path).map_err(StoreError::io("read", &path.below(root)))? {
                Found::Directory => What::Directory,
                Found::Link(target) => What::Link { target },
                Found::File { executable, bytes, mut file } => {
                    budget.count(bytes)?;
                    let (digest, kept) = part
                        .read_file(&mut file, bytes, budget)
                        .map_err(StoreError::io("read", &path.below(root)))?;
                    What::File { executable, digest, kept }
                }
                Found::Nothing => continue,
            };
            part.entries.push((path, what));
        }
        Ok(part)
    }

    fn read_file(
        &mut self,
        file: &mut File,
        bytes: u64,
        budget: &Budget,
    ) -> io::Result<(blake3::Hash, Option<Range<usize>>)> {
        if budget.keeps(bytes) {
            let start = self.contents.len();
            append_whole(file, bytes, &mut self.contents)?;
            let range = start..self.contents.len();
            return Ok((blake3::hash(&self.contents[range.clone()]), Some(range)));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file)?;
        Ok((hasher.finalize(), None))
    }

    fn write(&self, root: &Path, writer: &TreeWriter) -> Result<(), StoreError> {
        let mut reader = None;
        for (path, what) in &self.entries {
            let path = *path;
            match what {
                What::Directory => writer.directory(path)?,
                What::Link { target } => writer.link(path, target)?,
                What::File { executable, digest, kept: Some(range) } => {
                    writer.file_hashed(path, *executable, &self.contents[range.clone()], *digest)?;
                }
                What::File { kept: None, .. } => {
                    let failed = |source| StoreError::Io { action: "read", path: path.below(root), source };
                    let reader = match &mut reader {
                        Some(reader) => reader,
                        none => none.insert(DirectoryReader::open(root).map_err(failed)?),
                    };
                    // The current entry is used, because the name is computed from what is written.
                    match reader.find(path).map_err(failed)? {
                        Found::Directory => writer.directory(path)?,
                        Found::Link(target) => writer.link(path, &target)?,
                        Found::File { executable, mut file, .. } => {
                            writer.file_from(path, executable, &mut file)?;
                        }
                        Found::Nothing => {}
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the records of the read entries, as of a writer.
fn records(parts: &[Part<'_>], modes: Modes) -> Vec<Record> {
    let mut directories: HashSet<&[u8]> = HashSet::new();
    let mut records = Vec::new();
    for (path, what) in parts.iter().flat_map(|part| &part.entries) {
        let is_directory = matches!(what, What::Directory);
        let mut directory = if is_directory { path.as_bytes() } else { parent(path.as_bytes()) };
        while !directory.is_empty() && directories.insert(directory) {
            directory = parent(directory);
        }
        let kind = match what {
            What::Directory => continue,
            What::Link { target } => RecordKind::Link { target: target.as_slice().into() },
            What::File { executable, digest, .. } => {
                RecordKind::file(*executable && modes == Modes::Preserved, *digest)
            }
        };
        records.push(Record { path: path.as_bytes().into(), kind });
    }
    records.extend(
        directories.into_iter().map(|path| Record { path: path.into(), kind: RecordKind::Directory }),
    );
    records
}

/// Does work on each part of a list, on several threads.
fn in_parts<'a, T: Sync, R: Send>(
    items: &'a [T],
    work: impl Fn(&'a [T]) -> Result<R, StoreError> + Sync,
) -> Result<Vec<R>, StoreError> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(THREADS_MAX).min(items.len() / FILES_PER_THREAD_MIN).max(1);
    let parts: Vec<&[T]> = items.chunks(items.len().div_ceil(threads).max(1)).collect();
    on_threads(&parts, |part| work(part))
}

/// Does work on each item, each on its own thread except the first.
fn on_threads<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, StoreError> + Sync,
) -> Result<Vec<R>, StoreError> {
    let Some((first, others)) = items.split_first() else { return Ok(Vec::new()) };
    thread::scope(|scope| {
        let others: Vec<_> = others.iter().map(|item| scope.spawn(|| work(item))).collect();
        let mut done = vec![work(first)?];
        for other in others {
            done.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(done)
    })
}
