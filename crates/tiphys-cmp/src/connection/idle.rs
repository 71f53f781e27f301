//! The end of connections without calls, which would keep their places from callers.
//!
//! Pings do not count: a client can send them for ever. Only requests and running plugin calls keep a connection open. A watch of the health
//! service is one request; it has no deadline, and would keep a connection for ever, too.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The calls of one connection. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionCalls(Arc<Mutex<Activity>>);

#[derive(Debug)]
struct Activity {
    /// Plugin calls that are running. Each has a deadline.
    running: usize,
    /// When the last request began or the last plugin call ended.
    last: Instant,
}

impl ConnectionCalls {
    /// A connection that begins now.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Activity { running: 0, last: Instant::now() })))
    }

    /// One more running plugin call, until the result is dropped.
    pub(crate) fn begin(&self) -> RunningCall {
        self.activity().running += 1;
        RunningCall(self.clone())
    }

    /// A request begins.
    pub(super) fn request(&self) {
        self.activity().last = Instant::now();
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A plugin call that is running on a connection.
#[derive(Debug)]
pub(crate) struct RunningCall(ConnectionCalls);

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.running -= 1;
        activity.last = Instant::now();
    }
}

/// How long a connection may be without a call.
#[derive(Debug)]
pub(super) struct Idle {
    max: Duration,
    /// When to look next.
    look: Pin<Box<Sleep>>,
}

impl Idle {
    /// A time that begins now. Needs the runtime.
    pub(super) fn new(max: Duration) -> Self {
        Self { max, look: Box::pin(sleep_until(Instant::now() + max)) }
    }

    /// Waits until the connection has been without a call for too long; the error that reading fails with then.
    pub(super) fn poll_overdue(
        &mut self,
        calls: &ConnectionCalls,
        context: &mut Context<'_>,
    ) -> Poll<io::Error> {
        loop {
            ready!(self.look.as_mut().poll(context));
            let (now, activity) = (Instant::now(), calls.activity());
            let next = if activity.running > 0 { now + self.max } else { activity.last + self.max };
            drop(activity);
            if next <= now {
                let text = format!("no call within {:?}; see --connection-idle-max", self.max);
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            self.look.as_mut().reset(next);
        }
    }
}
