//! How many runs may be under way at once, and how many may wait for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tiphys_limits::Limit;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::observer::Observer;
use crate::plugin::{Deadline, PluginError};

/// Bounds of [`Slots`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "each is a bound, and says so as every bound here does")]
pub struct SlotLimits {
    /// Runs under way at once, those that have answered and are being ended included. At least one.
    pub runs_max: usize,
    /// Runs that may wait for a place; one more is refused at once.
    pub waiting_max: usize,
    /// How long a run may wait before it is refused.
    pub wait_max: Duration,
}

impl SlotLimits {
    /// Any number may wait for as long as it takes: for a program that has asked for all these runs itself.
    pub fn patient(runs_max: usize) -> Self {
        Self { runs_max, waiting_max: usize::MAX, wait_max: Duration::MAX }
    }
}

/// Places for runs, given in the order in which they were asked for.
#[derive(Debug)]
pub struct Slots {
    limits: SlotLimits,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A place; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _place: OwnedSemaphorePermit,
}

impl Slots {
    /// Places within these bounds.
    pub fn new(limits: SlotLimits) -> Arc<Self> {
        let limits = SlotLimits { runs_max: limits.runs_max.clamp(1, Semaphore::MAX_PERMITS), ..limits };
        let places = Arc::new(Semaphore::new(limits.runs_max));
        Arc::new(Self { limits, places, waiting: AtomicUsize::new(0) })
    }

    /// The bounds.
    pub fn limits(&self) -> SlotLimits {
        self.limits
    }

    /// Runs that wait for a place now.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Runs under way now, those that are being ended included.
    pub fn running(&self) -> usize {
        self.limits.runs_max - self.places.available_permits()
    }

    /// Waits for a place: until there is one, a bound or the deadline is reached, or nobody wants the answer any more.
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
        // A free place is never taken before those that wait: it is theirs as soon as it is given back.
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => return Ok(Slot { _place: place }),
            Err(TryAcquireError::NoPermits) => {}
            Err(TryAcquireError::Closed) => return Err(PluginError::Cancelled),
        }
        let _waiting = Waiting::enter(&self.waiting, self.limits.waiting_max).ok_or_else(|| {
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
            place = Arc::clone(&self.places).acquire_owned() => match place {
                Ok(place) => Ok(Slot { _place: place }),
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

/// Counts one that waits until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// `None` if as many wait as may.
    fn enter(count: &'a AtomicUsize, max: usize) -> Option<Self> {
        count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < max).then_some(count + 1))
            .ok()?;
        Some(Self(count))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
