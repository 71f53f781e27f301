//! The slot of an accepted connection, and the timeout for its preface.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tiphys_model::limits::Limit;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};

use crate::metrics::{GaugeGuard, Metrics};

/// A slot among the open connections. It is released when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    metrics: Arc<Metrics>,
    _open: GaugeGuard,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlot {
    /// Creates the slot of a permit.
    pub(crate) fn new(permit: OwnedSemaphorePermit, metrics: Arc<Metrics>) -> Self {
        Self { _open: metrics.connection(), metrics, _permit: permit }
    }

    /// Counts the closing of an idle connection.
    pub(super) fn idle(&self) {
        self.metrics.connection_idle();
    }

    /// Counts the closing of a connection that sent no preface in time.
    pub(super) fn silent(&self) {
        self.metrics.connection_silent();
    }
}

/// Timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionTimeouts {
    /// For its preface and first frame.
    pub(crate) preface_max: Duration,
    /// Without a call.
    pub(crate) idle_max: Duration,
}

/// The timeout for the preface and the first frame.
#[derive(Debug)]
pub(super) struct PrefaceTimeout {
    max: Duration,
    timer: Pin<Box<Sleep>>,
}

impl PrefaceTimeout {
    /// Starts the timeout. Must be called in a runtime.
    pub(super) fn new(max: Duration) -> Self {
        Self { max, timer: Box::pin(sleep(max)) }
    }

    /// Waits until the timeout expires. Returns the error for reading.
    pub(super) fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        ready!(self.timer.as_mut().poll(context));
        let text = format!(
            "no HTTP/2 preface and first frame within {:?}: {}",
            self.max,
            Limit::CONNECTION_PREFACE_MAX
        );
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, text))
    }
}
