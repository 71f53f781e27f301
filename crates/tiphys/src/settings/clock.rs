//! The time of day, for log lines and for saying when the process began. Nothing is decided by it.

use std::time::SystemTime;

/// Now.
#[expect(clippy::disallowed_methods, reason = "the one place of the program that asks")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}
