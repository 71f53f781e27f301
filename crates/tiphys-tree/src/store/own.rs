//! Trees of one process alone, with size limits, removed with it.
//!
//! ```text
//! <dir>/gate                                 locked while a process begins
//! <dir>/session-<random>/lock                locked as long as the process lives
//! <dir>/session-<random>/files/<n>/<number>  a file, once for all trees that have it
//! <dir>/session-<random>/<number>/tree/      a tree; its files are links to those above
//! ```
//!
//! A file is identified by its content and mode. When an archive is taken in, new files are written as they arrive, and the tree is created
//! from hard links when the archive is read completely. New files of a small archive are written into the tree, and linked to the others in
//! the background (`unnamed.rs`). An existing tree costs a check of each of its directories and files, unless that was done since the
//! request: a tree with removed, added (`seal.rs`) or changed (`untouched.rs`) entries is not used again.

mod build;
mod contents;
mod intake;
mod kept;
mod large;
mod places;
mod remover;
mod room;
#[cfg(test)]
mod tests;
mod unnamed;
mod untouched;

use std::num::NonZero;
use std::sync::{Arc, MutexGuard};
use std::time::Instant;
use std::{fs, io, thread};

use super::renewed::InSession;
use super::seal::{Seal, Times};
use super::session::Session;
use super::turns::Turns;
use super::{InUse, Staged, StoreBounds, StoreStats, TREE, Tree, is_of_a_full_disk};
use crate::archive::ArchiveError;
use crate::path::to_path;
use crate::writer::Finished;
use crate::{StoreError, TreeKey, WriteError};

use contents::{BLOCK_BYTES, Contents, FileKey, Leaving, Ledger};
use intake::Spare;
use kept::Kept;
use places::Places;
use remover::{ROOM_WAIT_MAX, Remover};
pub use room::Room;

/// Number of entries that justify a second thread.
const ENTRIES_PER_THREAD_MIN: usize = 512;
/// Maximum threads for one tree. More of them wait for each other in the file system.
const THREADS_MAX: usize = 2;

/// The trees of one process.
#[derive(Debug)]
pub(super) struct Own {
    ledger: Arc<Ledger>,
    /// Keys of trees that are being created.
    turns: Turns,
    places: Arc<Places>,
    spare: Spare,
    // It ends before the directory is removed.
    remover: Remover,
    session: Arc<Session>,
    /// Trees evicted before this store replaced another one.
    evicted_before: u64,
}

impl InSession for Own {
    fn is_there(&self) -> bool {
        self.session.is_there() && self.places.are_there()
    }

    fn remove(&self) {
        self.session.remove();
    }
}

/// A tree in use. It is not removed while this exists.
#[derive(Debug)]
pub(super) struct Lease {
    own: Arc<Own>,
    key: TreeKey,
    kept: Arc<Kept>,
}

impl Lease {
    /// Whether no entry was removed from the tree or added to it.
    pub(super) fn has_its_entries(&self) -> bool {
        self.kept.has_its_entries()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut leaving = Leaving::default();
        self.own.contents().give_back(self.key, &self.kept, &mut leaving);
        self.own.ledger.freed();
        self.own.remover.remove(leaving);
    }
}

impl Own {
    /// Creates an empty store in a session's directory. What this session and the one for runs have taken over is removed in the
    /// background.
    pub(super) fn new(session: Session, runs: Arc<Session>, bounds: StoreBounds) -> Result<Self, StoreError> {
        let session = Arc::new(session);
        let places = Arc::new(Places::new(&session.folder()?)?);
        let remover = Remover::new(Arc::clone(&places)).map_err(StoreError::io("start", session.path()))?;
        remover.sweep(vec![Arc::clone(&session), runs]);
        let ledger = Arc::new(Ledger::new(bounds));
        let (turns, spare) = (Turns::default(), Spare::default());
        Ok(Self { ledger, turns, places, spare, remover, session, evicted_before: 0 })
    }

    /// Creates an empty store that replaces one whose directory was removed.
    pub(super) fn instead_of(
        before: &Self,
        session: Session,
        runs: Arc<Session>,
    ) -> Result<Self, StoreError> {
        let bounds = before.contents().bounds();
        let new = Self { evicted_before: before.stats().evicted, ..Self::new(session, runs, bounds)? };
        new.places.inodes.watch(before.places.inodes.is_watching());
        Ok(new)
    }

    /// See [`Store::watch_change_times`](crate::Store::watch_change_times).
    pub(super) fn watch_change_times(&self, watch: bool) {
        self.places.inodes.watch(watch);
    }

    /// Returns the tree of this name if it exists and is unchanged. It is not checked again if it was checked since `asked`.
    pub(super) fn get(self: &Arc<Self>, key: TreeKey, asked: Instant) -> Option<Tree> {
        let kept = self.contents().lend(key)?;
        // Leased first, so that the lease is returned in any case.
        let tree = self.tree(key, Arc::clone(&kept));
        if kept.is_untouched(asked, &self.places.inodes) {
            return Some(tree);
        }
        let suspects = self.contents().spoil(key, &kept);
        for (file, number) in suspects {
            if !self.places.is_untouched(number) {
                self.contents().missing(file, number);
            }
        }
        None
    }

    /// A new tree that is not in place yet.
    pub(super) fn stage(&self, stop: &(dyn Fn() -> bool + Sync)) -> Result<Staged, StoreError> {
        let place = self.session.fresh_path();
        self.with_room(stop, || fs::create_dir(&place)).map_err(StoreError::io("make", &place))?;
        Ok(Staged(place))
    }

    /// Evicts the unused trees.
    pub(super) fn make_room(&self) {
        let mut leaving = Leaving::default();
        self.contents().evict_all(&mut leaving);
        self.remover.remove(leaving);
    }

    /// Adds a tree that was written file by file. Its files are not shared.
    pub(super) fn keep_written(
        self: &Arc<Self>,
        key: TreeKey,
        staged: Staged,
        finished: &Finished,
    ) -> Result<Tree, StoreError> {
        let made = Instant::now();
        if let Some(tree) = self.get(key, made) {
            return Ok(tree);
        }
        let seal = Seal::of(&staged.tree(), Times::ModifiedAndChanged)
            .map_err(StoreError::io("seal", staged.place()))?;
        let room = finished.bytes.saturating_add(finished.entries.saturating_mul(BLOCK_BYTES));
        Ok(self.keep(key, staged, (seal, made), Vec::new(), |_| room))
    }

    pub(super) fn stats(&self) -> StoreStats {
        let stats = self.contents().stats();
        StoreStats { evicted: stats.evicted + self.evicted_before, ..stats }
    }

    /// Adds a complete tree. Of two trees of one name the first stays. `room` returns its bytes without its files.
    fn keep(
        self: &Arc<Self>,
        key: TreeKey,
        staged: Staged,
        (seal, made): (Seal, Instant),
        files: Vec<FileKey>,
        room: impl FnOnce(&mut Contents) -> u64,
    ) -> Tree {
        let mut leaving = Leaving::default();
        let kept = {
            let mut contents = self.contents();
            if let Some(kept) = contents.lend(key) {
                contents.release(files, &mut leaving);
                drop(contents);
                drop(staged);
                kept
            } else {
                // Its files are not links to the store's files.
                let kept = Kept::new(staged.keep().join(TREE), seal, files.len(), made);
                let room = room(&mut contents);
                contents.keep(key, kept, files, room, &mut leaving)
            }
        };
        self.remover.remove(leaving);
        self.tree(key, kept)
    }

    fn tree(self: &Arc<Self>, key: TreeKey, kept: Arc<Kept>) -> Tree {
        let root = Arc::clone(&kept.root);
        let lease = Arc::new(Lease { own: Arc::clone(self), key, kept });
        Tree { key, root, in_use: InUse::ByThisProcess { lease } }
    }

    /// Retries an operation after evicting unused trees if the file system was full, unless `stop` returns `true`.
    fn with_room<T>(
        &self,
        stop: &(dyn Fn() -> bool + Sync),
        mut attempt: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        match attempt() {
            Err(error) if is_of_a_full_disk(&error) => {
                self.make_room();
                self.remover.wait(ROOM_WAIT_MAX, stop);
                if stop() { Err(error) } else { attempt() }
            }
            answer => answer,
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.ledger.lock()
    }
}

/// Returns the number of threads for a number of entries.
fn threads_for(entries: usize) -> usize {
    let of_use = (entries / ENTRIES_PER_THREAD_MIN).clamp(1, THREADS_MAX);
    if of_use == 1 {
        // Each call reads three files of the control group.
        return 1;
    }
    thread::available_parallelism().map_or(1, NonZero::get).min(of_use)
}

/// The error names the path in the tree: the path of the store means nothing to the sender of an archive.
fn failed(path: &[u8], source: io::Error) -> ArchiveError {
    WriteError::Io { path: to_path(path).to_path_buf(), source }.into()
}
