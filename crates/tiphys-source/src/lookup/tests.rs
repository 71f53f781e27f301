use std::time::Duration;

use tokio::time::Instant;

use super::{ENTRY_BYTES, Lookup, LookupAge, LookupCache};
use crate::SourceError;

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

fn age(age_max: Duration) -> LookupAge {
    LookupAge { request_begun: Instant::now(), age_max }
}

fn failure() -> SourceError {
    SourceError::Interrupted { repository: "r".to_owned() }
}

#[tokio::test]
async fn failed_look_up_does_not_replace_the_value() {
    let lookup = Lookup::<u32>::default();
    let first = lookup.get(age(Duration::ZERO), async || Ok(1)).await;
    assert_eq!(first.ok(), Some(1));
    let refreshed = lookup.get(age(Duration::ZERO), async || Err(failure())).await;
    assert!(refreshed.is_err());
    let accepted = lookup.get(age(Duration::MAX), async || Err(failure())).await;
    assert_eq!(accepted.ok(), Some(1));
}

#[tokio::test]
async fn accepted_value_does_not_wait_for_a_running_look_up() {
    let lookup = Lookup::<u32>::default();
    let first = lookup.get(age(Duration::ZERO), async || Ok(1)).await;
    assert_eq!(first.ok(), Some(1));
    let endless = lookup.get(age(Duration::ZERO), std::future::pending);
    tokio::select! {
        biased;
        _ = endless => panic!("it never ends"),
        accepted = lookup.get(age(Duration::MAX), async || Ok(2)) => assert_eq!(accepted.ok(), Some(1)),
    }
}
