//! A tree that is kept: where it is, what it must be like, and when that was seen last.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::build::threads_for;
use super::untouched::{Inodes, are_untouched};
use crate::store::seal::Seal;

/// A tree that is kept.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) root: Arc<PathBuf>,
    seal: Seal,
    /// How many of its files are names of the store's files, which are marked. None where it was written file by file.
    marked: usize,
    /// When the latest look began that found nothing touched; at first, when the tree began to be made.
    seen: Mutex<Instant>,
}

impl Kept {
    /// A tree whose making began at `made`.
    pub(super) fn new(root: PathBuf, seal: Seal, marked: usize, made: Instant) -> Self {
        Self { root: Arc::new(root), seal, marked, seen: Mutex::new(made) }
    }

    /// Whether nothing was taken out of the tree, put into it or changed in it, for somebody who asked at `asked`. Who asked before a look
    /// began that found it so need not look. Those who ask at once all look, if nobody lets them come one after the other.
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

    /// Whether no entry was taken out of the tree or put into it, which its directories tell.
    pub(super) fn has_its_entries(&self) -> bool {
        self.seal.holds(&self.root)
    }
}
