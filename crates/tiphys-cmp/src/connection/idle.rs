//! Closes connections without calls, which would occupy slots.
//!
//! Pings do not count: a client can send them forever. Only requests and running plugin calls keep a connection open. A watch of the health
//! service counts as one request, because it has no deadline and would keep a connection forever.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tiphys_model::limits::Limit;
use tokio::time::{Instant, Sleep, sleep_until};

/// The calls of one connection. Clones share the count.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionCalls(Arc<Mutex<Activity>>);

#[derive(Debug)]
struct Activity {
    /// Number of running plugin calls. Each has a deadline.
    running: usize,
    /// Start of the last request or end of the last plugin call.
    last: Instant,
}

impl ConnectionCalls {
    /// Creates the state of a connection that begins now.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Activity { running: 0, last: Instant::now() })))
    }

    /// Counts a running plugin call until the result is dropped.
    pub(crate) fn begin(&self) -> RunningCall {
        self.activity().running += 1;
        RunningCall(self.clone())
    }

    /// Records that a request began.
    pub(super) fn request(&self) {
        self.activity().last = Instant::now();
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running plugin call of a connection.
#[derive(Debug)]
pub(crate) struct RunningCall(ConnectionCalls);

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.running -= 1;
        activity.last = Instant::now();
    }
}

/// The timeout of a connection without a call.
#[derive(Debug)]
pub(super) struct IdleTimeout {
    max: Duration,
    /// The next check.
    check: Pin<Box<Sleep>>,
}

impl IdleTimeout {
    /// Starts the timeout. Must be called in a runtime.
    pub(super) fn new(max: Duration) -> Self {
        Self { max, check: Box::pin(sleep_until(Instant::now() + max)) }
    }

    /// Waits until the connection has had no call for too long. Returns the error for reading.
    pub(super) fn poll_expired(
        &mut self,
        calls: &ConnectionCalls,
        context: &mut Context<'_>,
    ) -> Poll<io::Error> {
        loop {
            ready!(self.check.as_mut().poll(context));
            let (now, activity) = (Instant::now(), calls.activity());
            let next = if activity.running > 0 { now + self.max } else { activity.last + self.max };
            drop(activity);
            if next <= now {
                let text = format!("no call within {:?}: {}", self.max, Limit::CONNECTION_IDLE_MAX);
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            self.check.as_mut().reset(next);
        }
    }
}
