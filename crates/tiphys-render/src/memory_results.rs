//! Results in memory.

use std::sync::Arc;

use moka::sync::Cache;

use crate::kept::ResultStore;
use crate::key::ResultKey;

/// Results of a service that renders the same Applications many times. Those that are not used make room for others.
#[derive(Clone, Debug)]
pub struct MemoryResults(Cache<ResultKey, Arc<[u8]>>);

impl MemoryResults {
    /// Returns an empty store for results of at most `bytes_max` bytes together.
    pub fn new(bytes_max: u64) -> Self {
        let bytes = |_: &ResultKey, result: &Arc<[u8]>| u32::try_from(result.len()).unwrap_or(u32::MAX);
        Self(Cache::builder().weigher(bytes).max_capacity(bytes_max).build())
    }
}

impl ResultStore for MemoryResults {
    fn get(&self, key: &ResultKey) -> Option<Vec<u8>> {
        self.0.get(key).map(|result| result.to_vec())
    }

    fn put(&self, key: &ResultKey, result: &[u8]) {
        self.0.insert(*key, result.into());
        // Otherwise, results above the limit stay until a later call.
        self.0.run_pending_tasks();
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryResults, ResultKey, ResultStore as _};

    #[test]
    fn results_take_at_most_the_bytes() {
        let results = MemoryResults::new(10);
        let key = |byte| ResultKey::from_bytes([byte; 32]);
        results.put(&key(1), b"123456");
        results.put(&key(2), b"1234");
        assert_eq!(results.get(&key(1)).as_deref(), Some(&b"123456"[..]));
        assert_eq!(results.get(&key(2)).as_deref(), Some(&b"1234"[..]));
        results.put(&key(3), b"12345678901");
        assert_eq!(results.get(&key(3)), None, "larger than all together");
        for byte in 4..14 {
            results.put(&key(byte), b"12345");
        }
        let kept = (1..14).filter_map(|byte| results.get(&key(byte))).map(|result| result.len());
        assert!((1..=10).contains(&kept.sum::<usize>()));
    }
}
