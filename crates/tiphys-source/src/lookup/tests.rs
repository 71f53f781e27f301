use std::time::Duration;

use tokio::time::Instant;

use super::{ENTRY_BYTES, LookupAge, LookupCache};

#[tokio::test]
async fn memory_of_a_cache_is_limited() {
    let value_bytes = 9 * ENTRY_BYTES;
    let bytes_max = u64::from(value_bytes) * 4;
    let cache = LookupCache::<usize, usize>::new(bytes_max);
    let age = LookupAge { request_begun: Instant::now(), age_max: Duration::MAX };
    let get = async |key| {
        let look_up = || async { Ok((key, usize::try_from(value_bytes).expect("it is small"))) };
        cache.get(&key, age, look_up).await.expect("it is looked up")
    };
    for key in 0..100 {
        assert_eq!(*get(key).await, key);
        cache.by_key.run_pending_tasks();
        assert!(cache.by_key.weighted_size() <= bytes_max);
    }
    assert_eq!(cache.by_key.entry_count(), 3);
}
