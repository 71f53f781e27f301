//! Look-ups that requests share: branches and tags, indexes of Helm repositories, tags of registries.

#[cfg(test)]
mod tests;

use std::hash::Hash;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError};
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::SourceError;

/// Time after which an unused look-up leaves memory.
pub(crate) const IDLE_MAX: Duration = Duration::from_hours(1);

/// Memory of a look-up besides its value.
const ENTRY_BYTES: u32 = 1024;

/// How old results may be that a request uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookupAge {
    pub(crate) request_begun: Instant,
    /// How long before the request the look-up may have begun.
    pub(crate) age_max: Duration,
}

/// The look-ups of one thing.
pub(crate) struct Lookup<V> {
    /// The last successful one. A request that accepts its age waits for no other look-up, and a failed one does not replace it.
    success: SyncMutex<Option<Success<V>>>,
    /// The last failed one since then. Locked during a look-up, so that concurrent requests wait for its result instead of repeating it.
    failure: Mutex<Option<Failure>>,
}

struct Success<V> {
    begun: Instant,
    value: V,
}

struct Failure {
    begun: Instant,
    ended: Instant,
    error: Arc<SourceError>,
}

impl<V: Clone> Lookup<V> {
    /// Returns the last value if the request accepts its age, else calls `look_up`. An error is shared only with requests that were under
    /// way during the look-up. A cancelled look-up has no result.
    pub(crate) async fn get<F>(&self, age: LookupAge, look_up: impl FnOnce() -> F) -> Result<V, SourceError>
    where
        F: Future<Output = Result<V, SourceError>>,
    {
        if let Some(value) = self.accepted(age) {
            return Ok(value);
        }
        let arrived = Instant::now();
        let mut failure = self.failure.lock().await;
        if let Some(value) = self.accepted(age) {
            return Ok(value);
        }
        if let Some(failure) = failure.as_ref().filter(|failure| failure.concerns(age, arrived)) {
            return Err(SourceError::Before(Arc::clone(&failure.error)));
        }
        let begun = Instant::now();
        match look_up().await {
            Ok(value) => {
                *self.success() = Some(Success { begun, value: value.clone() });
                *failure = None;
                Ok(value)
            }
            Err(error) => {
                let error = Arc::new(error);
                *failure = Some(Failure { begun, ended: Instant::now(), error: Arc::clone(&error) });
                Err(SourceError::Before(error))
            }
        }
    }

    fn accepted(&self, age: LookupAge) -> Option<V> {
        let success = self.success();
        let is_accepted =
            |success: &&Success<V>| age.request_begun.saturating_duration_since(success.begun) <= age.age_max;
        success.as_ref().filter(is_accepted).map(|success| success.value.clone())
    }

    fn success(&self) -> MutexGuard<'_, Option<Success<V>>> {
        self.success.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Failure {
    /// Whether the request was under way during the look-up.
    fn concerns(&self, age: LookupAge, arrived: Instant) -> bool {
        self.begun >= age.request_begun || self.ended >= arrived
    }
}

impl<V> Default for Lookup<V> {
    fn default() -> Self {
        Self { success: SyncMutex::default(), failure: Mutex::default() }
    }
}

/// Look-ups by key, with a limit on the memory of their values. The least recently used ones are dropped.
pub(crate) struct LookupCache<K, T> {
    by_key: Cache<K, Arc<Weighed<T>>>,
}

/// A look-up and the memory of its value.
struct Weighed<T> {
    lookup: Lookup<(Arc<T>, u32)>,
    bytes: AtomicU32,
}

impl<K: Hash + Eq + Clone + Send + Sync + 'static, T: Send + Sync + 'static> LookupCache<K, T> {
    /// Returns a cache for values of so many bytes in total.
    pub(crate) fn new(bytes_max: u64) -> Self {
        let weigh = |_: &K, entry: &Arc<Weighed<T>>| entry.bytes.load(Ordering::Relaxed) + ENTRY_BYTES;
        let by_key = Cache::builder()
            .weigher(weigh)
            .max_capacity(bytes_max)
            .eviction_policy(EvictionPolicy::lru())
            .time_to_idle(IDLE_MAX)
            .build();
        Self { by_key }
    }

    /// Returns the value of a key, see [`Lookup::get`]. `look_up` returns the value and its size in bytes.
    pub(crate) async fn get<F>(
        &self,
        key: &K,
        age: LookupAge,
        look_up: impl FnOnce() -> F,
    ) -> Result<Arc<T>, SourceError>
    where
        F: Future<Output = Result<(T, usize), SourceError>>,
    {
        let entry = self.by_key.get_with_by_ref(key, Arc::default);
        let look_up = || async {
            let (value, bytes) = look_up().await?;
            Ok((Arc::new(value), u32::try_from(bytes).unwrap_or(u32::MAX).min(u32::MAX - ENTRY_BYTES)))
        };
        let (value, bytes) = entry.lookup.get(age, look_up).await?;
        if entry.bytes.swap(bytes, Ordering::Relaxed) != bytes {
            // The cache weighs an entry when it is inserted.
            self.by_key.insert(key.clone(), entry);
        }
        Ok(value)
    }
}

impl<T> Default for Weighed<T> {
    fn default() -> Self {
        Self { lookup: Lookup::default(), bytes: AtomicU32::default() }
    }
}
