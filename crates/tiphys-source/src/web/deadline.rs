//! Until when an answer has to be there, and what says so.

use std::time::{Duration, Instant};

/// A moment, and the bound that it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    until: Instant,
    /// The whole bound, for messages.
    pub(crate) timeout: Duration,
    /// The option that sets the bound.
    pub(crate) option: &'static str,
}

impl Deadline {
    /// So long from now.
    pub(crate) fn after(timeout: Duration, option: &'static str) -> Self {
        Self { until: Instant::now() + timeout, timeout, option }
    }

    /// That of one part: so long from now, and no longer than the whole.
    pub(crate) fn part(self, timeout: Duration, option: &'static str) -> Self {
        let part = Self::after(timeout, option);
        if part.until < self.until { part } else { self }
    }

    /// The time that is left; `None` if there is none.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}
