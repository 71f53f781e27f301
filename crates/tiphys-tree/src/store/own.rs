//! Trees of one process alone, with size limits, removed with it.
//!
//! ```text
//! <dir>/gate                             locked while a process begins
//! <dir>/session-<random>/lock            locked as long as the process lives
//! <dir>/session-<random>/<number>/tree/  a tree
//! ```
//!
//! A tree that is found again is checked first: one with removed, added or changed entries is not used again.

mod fingerprint;
mod room;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use super::seal::Seal;
use super::session::{CurrentSession, Session};
use super::{InUse, Staged, StoreBounds, StoreStats, Tree};
use crate::writer::Finished;
use crate::{StoreError, TreeKey};

use fingerprint::Fingerprint;
pub use room::Room;

/// Bytes of a block of the file system, the minimum for a file or a directory.
const BLOCK_BYTES: u64 = 4096;
/// Bytes of a name in a directory, including the kernel's data.
const NAME_BYTES: u64 = 256;

/// The trees of one process.
#[derive(Debug)]
pub(super) struct Own {
    bounds: StoreBounds,
    /// Bytes of all trees and of archives that are being unpacked.
    bytes: Arc<AtomicU64>,
    state: Mutex<State>,
    /// Removes the directories of killed processes.
    sweeper: Option<JoinHandle<()>>,
    session: CurrentSession,
}

#[derive(Debug, Default)]
struct State {
    trees: HashMap<TreeKey, KnownTree>,
    /// Archives that have room.
    rooms: u64,
    /// Their announced bytes that are not written yet.
    announced: u64,
    /// Number of uses of trees.
    uses: u64,
    evicted: u64,
}

#[derive(Debug)]
struct KnownTree {
    cached: Arc<CachedTree>,
    /// Its last use.
    used: u64,
}

/// A tree on the disk. Dropping it removes its directory.
#[derive(Debug)]
struct CachedTree {
    root: Arc<PathBuf>,
    seal: Seal,
    /// `None` for a tree that was written by a caller: only its directories are checked.
    fingerprint: Option<Fingerprint>,
    /// Start of the last check that found no change; at first, the start of the tree's creation.
    checked: Mutex<Instant>,
    files: u64,
    /// These fields are dropped in this order.
    staged: Staged,
    space: Space,
    session: Arc<Session>,
}

/// Counted bytes of the disk.
#[derive(Debug)]
struct Space {
    total: Arc<AtomicU64>,
    bytes: u64,
}

/// A tree in use.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    // It is dropped before trees are evicted.
    cached: Arc<CachedTree>,
    _eviction: Eviction,
}

/// Evicts trees on drop if a limit is exceeded.
#[derive(Clone, Debug)]
struct Eviction(Arc<Own>);

impl Lease {
    /// Whether no entry was removed from the tree or added to it.
    pub(super) fn has_its_entries(&self) -> bool {
        self.cached.seal.holds(&self.cached.root)
    }
}

impl Drop for Eviction {
    fn drop(&mut self) {
        self.0.evict_excess();
    }
}

impl CachedTree {
    /// Whether no entry was removed, added or changed, for a request at `asked`. No check is needed if one began after the request.
    fn is_unchanged(&self, asked: Instant) -> bool {
        // Locked during the check, so that one of several requests checks.
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if *checked >= asked {
            return true;
        }
        let began = Instant::now();
        let is_unchanged = self.session.is_there()
            && match self.fingerprint {
                Some(fingerprint) => fingerprint.matches(&self.root),
                None => self.seal.holds(&self.root),
            };
        if is_unchanged {
            *checked = began;
        }
        is_unchanged
    }
}

impl Space {
    fn add(&mut self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Own {
    /// Creates an empty store in this directory.
    pub(super) fn new(dir: &Path, runs: Arc<Session>, bounds: StoreBounds) -> Result<Self, StoreError> {
        let session = CurrentSession::begin(dir)?;
        let own = session.get()?;
        let sweeper = std::thread::Builder::new().name("store-sweeper".to_owned()).spawn(move || {
            own.sweep();
            runs.sweep();
        });
        let sweeper = Some(sweeper.map_err(StoreError::io("start", dir))?);
        Ok(Self { bounds, bytes: Arc::default(), state: Mutex::default(), sweeper, session })
    }

    /// Returns the parent of the sessions' directories.
    pub(super) fn shared(&self) -> &Path {
        self.session.shared()
    }

    /// Removes everything, even if it is in use.
    pub(super) fn close(&self) {
        self.session.close();
    }

    /// Returns the tree of this name if it exists and is unchanged. It is not checked again if it was checked since `asked`.
    pub(super) fn get(self: &Arc<Self>, key: TreeKey, asked: Instant) -> Option<Tree> {
        let cached = self.state().used(key)?;
        if !cached.is_unchanged(asked) {
            self.state().forget(key, &cached);
            return None;
        }
        Some(self.tree(key, cached))
    }

    /// Creates a directory for a new tree.
    pub(super) fn stage(&self) -> Result<(Arc<Session>, Staged), StoreError> {
        let session = self.session.get()?;
        let staged = Staged::new(session.fresh_path())?;
        Ok((session, staged))
    }

    /// Adds a tree that was written file by file.
    pub(super) fn keep_written(
        self: &Arc<Self>,
        key: TreeKey,
        (session, staged): (Arc<Session>, Staged),
        finished: &Finished,
    ) -> Result<Tree, StoreError> {
        let made = Instant::now();
        if let Some(tree) = self.get(key, made) {
            return Ok(tree);
        }
        let mut space = Space { total: Arc::clone(&self.bytes), bytes: 0 };
        space.add(finished.bytes.saturating_add(finished.entries.saturating_mul(BLOCK_BYTES)));
        let cached = CachedTree {
            root: Arc::new(staged.tree()),
            seal: Seal::of(&staged.tree()).map_err(StoreError::io("seal", staged.place()))?,
            fingerprint: None,
            checked: Mutex::new(made),
            files: finished.entries,
            staged,
            space,
            session,
        };
        Ok(self.keep(key, cached))
    }

    /// Adds a complete tree. Of two trees of one name the first stays.
    fn keep(self: &Arc<Self>, key: TreeKey, cached: CachedTree) -> Tree {
        let cached = Arc::new(cached);
        let kept = self.state().keep(key, &cached);
        drop(cached);
        self.evict_excess();
        self.tree(key, kept)
    }

    pub(super) fn stats(&self) -> StoreStats {
        let state = self.state();
        StoreStats {
            trees: u64::try_from(state.trees.len()).unwrap_or(u64::MAX),
            files: state.trees.values().map(|known| known.cached.files).sum(),
            bytes: self.bytes.load(Ordering::Relaxed),
            evicted: state.evicted,
        }
    }

    /// Evicts the unused trees.
    pub(super) fn make_room(&self) {
        self.evict_while(|_| true);
    }

    /// Evicts trees while a limit is exceeded.
    fn evict_excess(&self) {
        self.evict_while(|state| {
            self.bytes.load(Ordering::Relaxed) > self.bounds.bytes_max
                || state.trees.len() > self.bounds.trees_max
        });
    }

    fn evict_while(&self, is_needed: impl Fn(&State) -> bool) {
        loop {
            let mut state = self.state();
            if !is_needed(&state) {
                return;
            }
            let Some(evicted) = state.evict_one() else { return };
            // Its directory is removed without the lock, and does not count any more: others need not wait or fail for it.
            drop(state);
            drop(evicted);
        }
    }

    fn tree(self: &Arc<Self>, key: TreeKey, cached: Arc<CachedTree>) -> Tree {
        let root = Arc::clone(&cached.root);
        Tree {
            key,
            root,
            in_use: InUse::ByThisProcess(Lease { cached, _eviction: Eviction(Arc::clone(self)) }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(sweeper) = self.sweeper.take() {
            // A panic was reported by the thread itself.
            drop(sweeper.join());
        }
    }
}

impl State {
    /// Returns the tree of this name and records its use.
    fn used(&mut self, key: TreeKey) -> Option<Arc<CachedTree>> {
        self.uses += 1;
        let known = self.trees.get_mut(&key)?;
        known.used = self.uses;
        Some(Arc::clone(&known.cached))
    }

    /// Adds a tree, and returns it or the existing one of its name.
    fn keep(&mut self, key: TreeKey, cached: &Arc<CachedTree>) -> Arc<CachedTree> {
        self.uses += 1;
        let used = self.uses;
        let known = self.trees.entry(key).or_insert_with(|| KnownTree { cached: Arc::clone(cached), used });
        Arc::clone(&known.cached)
    }

    /// Removes a tree that has changed. It is removed from the disk with its last use.
    fn forget(&mut self, key: TreeKey, cached: &Arc<CachedTree>) {
        if self.trees.get(&key).is_some_and(|known| Arc::ptr_eq(&known.cached, cached)) {
            self.trees.remove(&key);
        }
    }

    /// Removes the least recently used tree that is not in use, and its bytes. Returns the directory.
    fn evict_one(&mut self) -> Option<(Staged, Arc<Session>)> {
        let unused = self.trees.iter().filter(|(_, known)| known.is_unused());
        let key = unused.min_by_key(|(_, known)| known.used).map(|(key, _)| *key)?;
        self.evicted += 1;
        let CachedTree { staged, session, .. } = Arc::into_inner(self.trees.remove(&key)?.cached)?;
        Some((staged, session))
    }

    /// Returns the bytes of trees that are not in use.
    fn unused_bytes(&self) -> u64 {
        self.trees.values().filter(|known| known.is_unused()).map(|known| known.cached.space.bytes).sum()
    }
}

impl KnownTree {
    fn is_unused(&self) -> bool {
        // Other references are created from this one, with the state locked.
        Arc::strong_count(&self.cached) == 1
    }
}
