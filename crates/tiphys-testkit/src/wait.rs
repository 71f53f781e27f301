//! Waiting for a condition with a deadline.

use std::time::{Duration, Instant};

/// Interval at which a condition is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// How long a test waits for a condition, also on a loaded machine.
const WAIT_MAX: Duration = Duration::from_mins(2);

/// Waits for a condition that no event reports, such as the start of another process.
///
/// # Panics
///
/// Panics with `what` if the condition does not become true within two minutes.
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let give_up_at = Instant::now() + WAIT_MAX;
    let mut tick = tokio::time::interval(POLL_INTERVAL);
    while !condition() {
        assert!(Instant::now() < give_up_at, "{what}: not within two minutes");
        tick.tick().await;
    }
}
