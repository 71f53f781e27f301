//! Until when an answer has to be there, and what says so.

use std::time::{Duration, Instant};

/// How long something may take, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) timeout: Duration,
    /// The option that sets it.
    pub(crate) option: &'static str,
}

/// A moment, and the bound that it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    until: Instant,
    /// The whole bound, for messages.
    pub(crate) bound: Bound,
}

impl Deadline {
    /// So long from now.
    pub(crate) fn after(bound: Bound) -> Self {
        Self { until: Instant::now() + bound.timeout, bound }
    }

    /// That of one part: so long from now, and no longer than the whole.
    pub(crate) fn part(self, bound: Bound) -> Self {
        let part = Self::after(bound);
        if part.until < self.until { part } else { self }
    }

    /// The time that is left; `None` if there is none.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}
