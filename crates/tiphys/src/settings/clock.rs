//! The time of day, for log lines, the start time of the process, and when a cluster was read. No decision depends on it.

use std::time::SystemTime;

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "the only reader of the clock")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}
