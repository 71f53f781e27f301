//! Writing a planned tree: its files are listed first, then several threads read and write them.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gix_object::tree::EntryKind;
use tiphys_tree::{RepoPath, TreeWriter};

use super::list::Contents;
use super::{Item, Listing};
use crate::{SourceError, lfs};

/// Maximum number of threads. More do not help, because the file system creates the entries of a directory one at a time.
const THREADS_MAX: usize = 4;

/// Number of files that a thread takes at once. With fewer files, no thread is started.
const FILES_PER_TURN: usize = 64;

/// Writes the tree, and returns its Git LFS pointers, sorted.
pub(crate) fn write(listing: &Listing, writer: &TreeWriter) -> Result<Vec<RepoPath>, SourceError> {
    for directory in &listing.directories {
        writer.directory(directory)?;
    }
    let turns = listing.items.len().div_ceil(FILES_PER_TURN);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = turns.min(cores).min(THREADS_MAX);

    let job = Job {
        listing,
        writer,
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

/// The state that the threads share.
struct Job<'a> {
    listing: &'a Listing,
    writer: &'a TreeWriter,
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
        let mut contents = self.listing.contents();
        while !self.failed.load(Ordering::Relaxed) {
            let start = self.next.fetch_add(FILES_PER_TURN, Ordering::Relaxed);
            let Some(rest) = self.listing.items.get(start..).filter(|rest| !rest.is_empty()) else { break };
            for item in &rest[..rest.len().min(FILES_PER_TURN)] {
                self.write_item(&mut contents, item)?;
            }
        }
        Ok(())
    }

    fn write_item(&self, contents: &mut Contents, item: &Item) -> Result<(), SourceError> {
        if item.kind == EntryKind::Link {
            let target = contents.link(item)?;
            self.writer.link(&item.path, &target)?;
            return Ok(());
        }
        let content = contents.of(item)?;
        self.writer.file(&item.path, item.kind == EntryKind::BlobExecutable, content)?;
        if lfs::is_pointer(content) {
            self.pointers.lock().unwrap_or_else(PoisonError::into_inner).push(item.path.clone());
        }
        Ok(())
    }
}
