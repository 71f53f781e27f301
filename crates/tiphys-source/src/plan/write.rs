//! Writing a planned tree: directories are read first, then several threads read and write files.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use tiphys_limits::Limit;
use tiphys_tree::{RepoPath, TreeLimits, TreeWriter, WriteError};

use super::{Part, Plan};
use crate::objects::{Objects, Reader};
use crate::{SourceError, lfs};

/// Maximum number of threads. More do not help, because the file system creates the entries of a directory one at a time.
const THREADS_MAX: usize = 4;

/// Number of files that a thread takes at once. With fewer files, no thread is started.
const FILES_PER_TURN: usize = 64;

/// Maximum length of a path in bytes.
const PATH_BYTES_MAX: usize = 4096;

/// A file or link to be written.
pub(crate) struct Item {
    /// Index in [`Plan::objects`].
    pub(crate) objects: usize,
    pub(crate) path: RepoPath,
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
}

/// The content of a planned tree.
#[derive(Default)]
pub(crate) struct Listing {
    /// Files and links.
    pub(crate) items: Vec<Item>,
    /// Empty directories.
    directories: Vec<RepoPath>,
}

/// Writes the tree, and returns its Git LFS pointers, sorted.
pub(crate) fn write(
    plan: &Plan,
    writer: &TreeWriter,
    limits: TreeLimits,
) -> Result<Vec<RepoPath>, SourceError> {
    let Listing { items, directories } = list(plan, limits)?;
    for directory in &directories {
        writer.directory(directory)?;
    }
    let turns = items.len().div_ceil(FILES_PER_TURN);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = turns.min(cores).min(THREADS_MAX);

    let job = Job {
        plan,
        writer,
        items: &items,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        pointers: Mutex::default(),
    };
    let mut outcome = Ok(());
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| job.work())).collect();
        outcome = job.work();
        for other in others {
            match other.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => outcome = Err(error),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    outcome?;
    let mut pointers = job.pointers.into_inner().unwrap_or_else(PoisonError::into_inner);
    pointers.sort();
    Ok(pointers)
}

/// Lists the files of a plan. Reads directories only.
pub(crate) fn list(plan: &Plan, limits: TreeLimits) -> Result<Listing, SourceError> {
    let mut readers: Vec<Reader> = plan.objects.iter().map(Objects::reader).collect();
    let mut listing = Listing::default();
    for part in &plan.parts {
        list_part(plan, &mut readers, part, limits, &mut listing)?;
    }
    Ok(listing)
}

fn list_part(
    plan: &Plan,
    readers: &mut [Reader],
    part: &Part,
    limits: TreeLimits,
    listing: &mut Listing,
) -> Result<(), SourceError> {
    let Some(reader) = readers.get_mut(part.objects) else { return Ok(()) };
    let mut waiting = vec![(part.at.clone(), part.kind, part.id)];
    let mut seen: u64 = 0;
    while let Some((path, kind, id)) = waiting.pop() {
        seen += 1;
        if seen > limits.entries_max {
            return Err(WriteError::TooManyEntries {
                max: limits.entries_max,
                limit: Limit::TREE_ENTRIES_MAX,
            }
            .into());
        }
        if path.as_str().len() > PATH_BYTES_MAX {
            let name = path.as_str().chars().take(80).chain("…".chars()).collect();
            return Err(SourceError::Name { repository: reader.repository().to_owned(), name });
        }
        match kind {
            EntryKind::Tree => {
                let entries = reader.entries(id)?;
                for entry in entries.iter().rev() {
                    waiting.push((path.join(&entry.name)?, entry.kind, entry.id));
                }
                if entries.is_empty() {
                    listing.directories.push(path);
                }
            }
            EntryKind::Commit => {
                let demands = plan.has_gitmodules.get(part.objects).copied().unwrap_or_default();
                if demands && !plan.submodules.contains(&path) {
                    let problem = format!(
                        ".gitmodules of repository {} has no URL for the submodule at {path}",
                        reader.repository()
                    );
                    return Err(SourceError::SubmoduleConfiguration { problem });
                }
                listing.directories.push(path);
            }
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                listing.items.push(Item { objects: part.objects, path, kind, id });
            }
        }
    }
    Ok(())
}

/// The state that the threads share.
struct Job<'a> {
    plan: &'a Plan,
    writer: &'a TreeWriter,
    items: &'a [Item],
    next: AtomicUsize,
    failed: AtomicBool,
    pointers: Mutex<Vec<RepoPath>>,
}

impl Job<'_> {
    fn work(&self) -> Result<(), SourceError> {
        let done = self.work_until_failure();
        if done.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        done
    }

    fn work_until_failure(&self) -> Result<(), SourceError> {
        let mut readers: Vec<Reader> = self.plan.objects.iter().map(Objects::reader).collect();
        while !self.failed.load(Ordering::Relaxed) {
            let start = self.next.fetch_add(FILES_PER_TURN, Ordering::Relaxed);
            let Some(rest) = self.items.get(start..).filter(|rest| !rest.is_empty()) else { break };
            for item in &rest[..rest.len().min(FILES_PER_TURN)] {
                let Some(reader) = readers.get_mut(item.objects) else { continue };
                self.write_item(reader, item)?;
            }
        }
        Ok(())
    }

    fn write_item(&self, reader: &mut Reader, item: &Item) -> Result<(), SourceError> {
        if item.kind == EntryKind::Link {
            let target = reader.link(&item.path, item.id)?;
            self.writer.link(&item.path, &target)?;
            return Ok(());
        }
        let content = reader.blob(item.id)?;
        self.writer.file(&item.path, item.kind == EntryKind::BlobExecutable, content)?;
        if lfs::is_pointer(content) {
            self.pointers.lock().unwrap_or_else(PoisonError::into_inner).push(item.path.clone());
        }
        Ok(())
    }
}
