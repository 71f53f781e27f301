//! The time of day, for log lines and the start time of the process. No decision depends on it.

use std::time::SystemTime;

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "the only reader of the clock")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}
