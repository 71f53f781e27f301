//! What is asked for once in a command, however many want to know it at once.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An answer, or why there is none; or a place for that.
type Slot<V, E> = Arc<OnceLock<Result<V, Arc<E>>>>;

/// Answers by what was asked. Each has a place of its own, so that nobody waits for an answer to another question.
pub(super) struct Once<K, V, E>(Mutex<HashMap<K, Slot<V, E>>>);

impl<K: Eq + Hash, V: Clone, E> Once<K, V, E> {
    /// The answer to a question: `ask` is called for one of those who want it, and the others wait for that. If it fails, all are told why.
    /// To be called on a thread for blocking work.
    pub(super) fn get(&self, question: K, ask: impl FnOnce() -> Result<V, E>) -> Result<V, Arc<E>> {
        let slot =
            Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(question).or_default());
        slot.get_or_init(|| ask().map_err(Arc::new)).clone()
    }
}

impl<K, V, E> Default for Once<K, V, E> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// Questions and answers may be secret.
impl<K, V, E> fmt::Debug for Once<K, V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
