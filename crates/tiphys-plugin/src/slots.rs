//! Limits of concurrent and waiting runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tiphys_model::limits::Limit;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::error::PluginError;
use crate::observer::Observer;
use crate::request::Deadline;

/// Limits of [`Slots`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "limits end in _max")]
pub struct SlotLimits {
    /// Concurrent runs, including those that have answered and are being ended. At least one.
    pub runs_max: usize,
    /// Waiting runs; further ones are refused at once.
    pub waiting_max: usize,
    /// Maximum wait of a run.
    pub wait_max: Duration,
}

impl SlotLimits {
    /// Unlimited waiting, for a process that requested all these runs itself.
    pub fn patient(runs_max: usize) -> Self {
        Self { runs_max, waiting_max: usize::MAX, wait_max: Duration::MAX }
    }
}

/// Slots for runs, assigned in the order of the requests.
#[derive(Debug)]
pub struct Slots {
    limits: SlotLimits,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A slot, released when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    /// Creates slots with these limits.
    pub fn new(limits: SlotLimits) -> Arc<Self> {
        let limits = SlotLimits { runs_max: limits.runs_max.clamp(1, Semaphore::MAX_PERMITS), ..limits };
        let permits = Arc::new(Semaphore::new(limits.runs_max));
        Arc::new(Self { limits, permits, waiting: AtomicUsize::new(0) })
    }

    /// Returns the limits.
    pub fn limits(&self) -> SlotLimits {
        self.limits
    }

    /// Returns the number of waiting runs.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the number of running runs, including those that are being ended.
    pub fn running(&self) -> usize {
        self.limits.runs_max - self.permits.available_permits()
    }

    /// Waits for a slot, until a limit or the deadline is reached, or the request is cancelled.
    pub(crate) async fn take(
        &self,
        deadline: Deadline,
        cancel: &CancellationToken,
        observer: &dyn Observer,
    ) -> Result<Slot, PluginError> {
        let began = Instant::now();
        let taken = self.queue(began, deadline, cancel).await;
        match &taken {
            Ok(_) => observer.waited(began.elapsed()),
            Err(PluginError::Busy { .. }) => observer.refused(),
            Err(_) => {}
        }
        taken
    }

    async fn queue(
        &self,
        began: Instant,
        deadline: Deadline,
        cancel: &CancellationToken,
    ) -> Result<Slot, PluginError> {
        // A free slot is never taken before waiting runs: the semaphore is fair.
        match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => return Ok(Slot { _permit: permit }),
            Err(TryAcquireError::NoPermits) => {}
            Err(TryAcquireError::Closed) => return Err(PluginError::Cancelled),
        }
        let _waiting = WaitCounter::enter(&self.waiting, self.limits.waiting_max).ok_or_else(|| {
            self.busy(format_args!("{} wait already", self.limits.waiting_max), Limit::PLUGIN_QUEUE_MAX)
        })?;
        let late = async {
            match deadline {
                Deadline::At(instant) => sleep_until(instant).await,
                Deadline::After(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(PluginError::Cancelled),
            permit = Arc::clone(&self.permits).acquire_owned() => match permit {
                Ok(permit) => Ok(Slot { _permit: permit }),
                Err(_closed) => Err(PluginError::Cancelled),
            },
            () = late => {
                Err(PluginError::DeadlineInQueue { waited: began.elapsed(), runs_max: self.limits.runs_max })
            }
            () = sleep(self.limits.wait_max) => {
                Err(self.busy(format_args!("none became free within {:?}", self.limits.wait_max), Limit::PLUGIN_QUEUE_WAIT))
            }
        }
    }

    fn busy(&self, bound: std::fmt::Arguments<'_>, limit: Limit) -> PluginError {
        PluginError::Busy { runs_max: self.limits.runs_max, bound: bound.to_string(), limit }
    }
}

/// Counts a waiting run until it is dropped.
struct WaitCounter<'a>(&'a AtomicUsize);

impl<'a> WaitCounter<'a> {
    /// Returns `None` if the maximum is reached.
    fn enter(count: &'a AtomicUsize, max: usize) -> Option<Self> {
        count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < max).then_some(count + 1))
            .ok()?;
        Some(Self(count))
    }
}

impl Drop for WaitCounter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
