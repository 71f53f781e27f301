//! Values that are computed once per key.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// A [`OnceCell`] for each key. Concurrent callers of one key share a computation; those of different keys do not wait for each other.
pub(crate) struct OnceMap<K, V>(Mutex<HashMap<K, Arc<OnceCell<V>>>>);

impl<K: Eq + Hash, V> OnceMap<K, V> {
    /// Returns the cell of a key.
    pub(crate) fn cell(&self, key: K) -> Arc<OnceCell<V>> {
        Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default())
    }
}

impl<K, V> Default for OnceMap<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
