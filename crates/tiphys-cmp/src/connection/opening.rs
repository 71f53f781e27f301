//! What a connection has that was accepted: a place among a bounded number, and little time to begin.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};

use crate::metrics::{Metrics, OneMore};

/// A connection's place among those that may be open. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    metrics: Arc<Metrics>,
    _open: OneMore,
    _permit: OwnedSemaphorePermit,
}

impl Place {
    /// The place that a permit stands for.
    pub(crate) fn new(permit: OwnedSemaphorePermit, metrics: Arc<Metrics>) -> Self {
        Self { _open: metrics.connection(), metrics, _permit: permit }
    }

    /// The connection had no call for too long.
    pub(super) fn idle(&self) {
        self.metrics.connection_idle();
    }

    /// The connection has not begun to speak in time.
    pub(super) fn silent(&self) {
        self.metrics.connection_silent();
    }
}

/// How long a connection may take, and be silent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Until its preface and its first frame have come.
    pub(crate) preface_max: Duration,
    /// Without a call.
    pub(crate) idle_max: Duration,
}

/// The time in which a client has to begin.
#[derive(Debug)]
pub(super) struct Opening {
    max: Duration,
    over: Pin<Box<Sleep>>,
}

impl Opening {
    /// So long from now. Needs the runtime.
    pub(super) fn new(max: Duration) -> Self {
        Self { max, over: Box::pin(sleep(max)) }
    }

    /// Waits until the time is over; what reading fails with then.
    pub(super) fn poll_overdue(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        ready!(self.over.as_mut().poll(context));
        let text =
            format!("no HTTP/2 preface and first frame within {:?}; see --connection-preface-max", self.max);
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, text))
    }
}
