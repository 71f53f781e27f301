//! Values that are computed once per key.

use std::collections::HashMap;
use std::hash::Hash;
use std::pin::Pin;
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

impl<K: Eq + Hash> OnceMap<K, ()> {
    /// Completes a call if it is the first one of its key. The others of the key wait for its end and return `None`.
    pub(crate) async fn lead<T>(&self, key: K, call: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let mut ended = None;
        let result = &mut ended;
        self.cell(key).get_or_init(|| async move { *result = Some(call.await) }).await;
        ended
    }
}

impl<K, V> Default for OnceMap<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
