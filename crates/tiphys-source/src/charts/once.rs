//! Values that a command computes once, however many callers need them at the same time.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// A value, or the error of its computation; empty until one of both exists.
type Slot<V, E> = Arc<OnceCell<Result<V, Arc<E>>>>;

/// Values by key. Callers of different keys do not wait for each other.
pub(super) struct Once<K, V, E>(Mutex<HashMap<K, Slot<V, E>>>);

impl<K: Eq + Hash, V: Clone, E> Once<K, V, E> {
    /// Returns the value of a key. `compute` is called for one of the callers that need the value; the others wait for its result. All
    /// get its error, too. If that caller is cancelled, `compute` of another one is called.
    pub(super) async fn get<F>(&self, key: K, compute: impl FnOnce() -> F) -> Result<V, Arc<E>>
    where
        F: Future<Output = Result<V, E>>,
    {
        let slot = Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        slot.get_or_init(|| async { compute().await.map_err(Arc::new) }).await.clone()
    }
}

impl<K, V, E> Default for Once<K, V, E> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// Omits keys and values, which may be secret.
impl<K, V, E> fmt::Debug for Once<K, V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
