//! Waiting for conditions that no event reports, such as files and states of other processes.

use std::thread::park_timeout;
use std::time::{Duration, Instant};

/// Limit for a condition, also on a loaded system.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// Interval at which a condition is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Waits for a condition.
///
/// # Panics
///
/// Panics with `what` if the condition does not become true within [`PATIENCE`].
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    let mut tick = tokio::time::interval(POLL_INTERVAL);
    while !condition() {
        assert!(begin.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tick.tick().await;
    }
}

/// Calls `find` until it returns a value. For code without a runtime.
///
/// # Panics
///
/// Panics if there is no value within [`PATIENCE`].
#[track_caller]
pub fn until<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "not within {PATIENCE:?}");
        park_timeout(POLL_INTERVAL);
    }
}
