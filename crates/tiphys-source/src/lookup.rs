//! Look-ups that requests share: branches and tags, indexes of Helm repositories, tags of registries.

#[cfg(test)]
mod tests;

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
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

/// The last look-up of one thing.
pub(crate) struct Lookup<V> {
    /// Locked during a look-up, so that concurrent requests wait for its result instead of repeating it.
    last: Mutex<Option<Finished<V>>>,
}

struct Finished<V> {
    begun: Instant,
    ended: Instant,
    result: Result<V, Arc<SourceError>>,
}

impl<V: Clone> Lookup<V> {
    /// Returns the last result if the request accepts its age, else calls `look_up`. An error is shared only with requests that were under
    /// way during the look-up. A cancelled look-up has no result.
    pub(crate) async fn get<F>(&self, age: LookupAge, look_up: impl FnOnce() -> F) -> Result<V, SourceError>
    where
        F: Future<Output = Result<V, SourceError>>,
    {
        let arrived = Instant::now();
        let mut last = self.last.lock().await;
        if let Some(finished) = last.as_ref().filter(|finished| finished.is_usable(age, arrived)) {
            return finished.result.clone().map_err(SourceError::Before);
        }
        let begun = Instant::now();
        let result = look_up().await.map_err(Arc::new);
        *last = Some(Finished { begun, ended: Instant::now(), result: result.clone() });
        result.map_err(SourceError::Before)
    }
}

impl<V> Finished<V> {
    fn is_usable(&self, age: LookupAge, arrived: Instant) -> bool {
        let began_before_request = age.request_begun.saturating_duration_since(self.begun);
        match self.result {
            Ok(_) => began_before_request <= age.age_max,
            Err(_) => began_before_request.is_zero() || self.ended >= arrived,
        }
    }
}

impl<V> Default for Lookup<V> {
    fn default() -> Self {
        Self { last: Mutex::default() }
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
