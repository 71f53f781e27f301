//! Something that happens again and again, and is told when it begins, when it becomes something else, and when it is over.

use std::time::Duration;

use tokio::time::Instant;

/// How long something must not have happened to be over. What comes and goes with each connection is one episode.
const CALM: Duration = Duration::from_secs(10);

/// What has happened lately.
#[derive(Debug)]
pub(super) struct Episode<T>(Option<(T, Instant)>);

impl<T> Default for Episode<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: PartialEq> Episode<T> {
    /// It happens now. Says whether that is to be told: it did not happen lately, or what happened was something else.
    pub(super) fn happens(&mut self, what: T, now: Instant) -> bool {
        let is_known = self.0.as_ref().is_some_and(|(known, _)| *known == what);
        self.0 = Some((what, now));
        !is_known
    }

    /// All is well now. Says whether that is to be told: it was not so, and has been for long enough.
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        self.0.take_if(|(_, last)| now.duration_since(*last) >= CALM).is_some()
    }
}

#[cfg(test)]
mod tests;
