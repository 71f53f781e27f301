//! Timeouts with the limits that set them, and deadlines derived from them.

use std::time::{Duration, Instant};

use tiphys_model::limits::Limit;

use crate::HttpError;

/// A maximum duration and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The maximum duration.
    pub duration: Duration,
    /// The limit that sets it.
    pub limit: Limit,
}

/// A point in time, and the timeout from which it was computed.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    instant: Instant,
    timeout: Timeout,
}

impl Deadline {
    /// The deadline of a timeout that starts now.
    pub fn after(timeout: Timeout) -> Self {
        Self { instant: Instant::now() + timeout.duration, timeout }
    }

    /// The deadline of a timeout that starts now, or this one if it is earlier.
    #[must_use]
    pub fn min(self, timeout: Timeout) -> Self {
        let part = Self::after(timeout);
        if part.instant < self.instant { part } else { self }
    }

    /// The timeout from which the deadline was computed: its full duration, not what is left.
    pub fn timeout(self) -> Timeout {
        self.timeout
    }

    /// The remaining time; zero after the deadline.
    pub fn remaining(self) -> Duration {
        self.instant.saturating_duration_since(Instant::now())
    }

    /// Runs a future until the deadline. A deadline in the past is an error without polling the future.
    pub(crate) async fn limit<T>(self, future: impl Future<Output = T>) -> Result<T, HttpError> {
        if self.remaining().is_zero() {
            return Err(HttpError::Timeout(self.timeout));
        }
        let output = tokio::time::timeout_at(self.instant.into(), future).await;
        output.map_err(|_elapsed| HttpError::Timeout(self.timeout))
    }
}
