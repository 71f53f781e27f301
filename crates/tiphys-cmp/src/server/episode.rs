//! A recurring problem that is logged when it begins, changes, and ends.

use std::time::Duration;

use tokio::time::Instant;

/// Time without the problem after which it has ended. A problem that comes and goes with each connection is one episode.
const CALM: Duration = Duration::from_secs(10);

/// The current problem, if any.
#[derive(Debug)]
pub(super) struct Episode<T>(Option<(T, Instant)>);

impl<T> Default for Episode<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: PartialEq> Episode<T> {
    /// Records an occurrence. Returns whether to log it: it is new or different.
    pub(super) fn occurred(&mut self, what: T, now: Instant) -> bool {
        let is_known = self.0.as_ref().is_some_and(|(known, _)| *known == what);
        self.0 = Some((what, now));
        !is_known
    }

    /// Records a success. Returns whether to log the end: there was a problem, and it has not occurred for long enough.
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        self.0.take_if(|(_, last)| now.duration_since(*last) >= CALM).is_some()
    }
}

#[cfg(test)]
mod tests;
