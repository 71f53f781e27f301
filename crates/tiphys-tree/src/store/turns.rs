//! Serialises the threads that write one tree: one writes and the others wait.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::TreeKey;

/// Keys that a thread of this process is writing.
#[derive(Debug, Default)]
pub(super) struct Turns {
    writing: Mutex<HashSet<TreeKey>>,
    written: Condvar,
}

/// The right to write one key; other threads of this process wait until it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    key: TreeKey,
}

impl Turns {
    /// Waits for the right to write a key.
    pub(super) fn wait(&self, key: TreeKey) -> Turn<'_> {
        let writing = self.lock();
        let mut writing = self
            .written
            .wait_while(writing, |writing| writing.contains(&key))
            .unwrap_or_else(PoisonError::into_inner);
        writing.insert(key);
        Turn { turns: self, key }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<TreeKey>> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.lock().remove(&self.key);
        self.turns.written.notify_all();
    }
}
