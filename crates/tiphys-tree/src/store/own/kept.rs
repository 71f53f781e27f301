//! A cached tree: its location, its seal, and its last check.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::threads_for;
use super::untouched::{Inodes, are_untouched};
use crate::store::seal::Seal;

/// A cached tree.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) root: Arc<PathBuf>,
    seal: Seal,
    /// Number of its files that are hard links to the store's files, which are marked. `None` for a tree written file by file.
    marked: usize,
    /// Start of the last check that found no change; at first, the start of the tree's creation.
    seen: Mutex<Instant>,
}

impl Kept {
    /// Creates a tree whose creation began at `made`.
    pub(super) fn new(root: PathBuf, seal: Seal, marked: usize, made: Instant) -> Self {
        Self { root: Arc::new(root), seal, marked, seen: Mutex::new(made) }
    }

    /// Whether no entry was removed, added or changed, for a request at `asked`. No check is needed if one began after the request.
    /// Concurrent requests all check unless the caller serialises them.
    pub(super) fn is_untouched(&self, asked: Instant, inodes: &Inodes) -> bool {
        if *self.seen.lock().unwrap_or_else(PoisonError::into_inner) >= asked {
            return true;
        }
        let began = Instant::now();
        let untouched = match self.marked {
            0 => self.seal.holds(&self.root),
            marked => are_untouched(&self.root, &self.seal, inodes, threads_for(marked)),
        };
        if untouched {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = began.max(*seen);
        }
        untouched
    }

    /// Whether no entry was removed or added, by its directories.
    pub(super) fn has_its_entries(&self) -> bool {
        self.seal.holds(&self.root)
    }
}
