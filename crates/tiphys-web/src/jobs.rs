//! Work of requests that must come to its end: plugins are stopped in order, also if the browser has disconnected.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::stages::Stages;

/// Work that runs at once. Further work waits.
const RUNNING_MAX: usize = 16;

/// Work that runs or waits. Further work is refused.
const ACCEPTED_MAX: usize = 128;

type Work = Pin<Box<dyn Future<Output = ()>>>;
type Job = Box<dyn FnOnce() -> Work + Send>;

/// Why work was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotDone {
    #[error("the server is stopping")]
    Stopping,
    #[error("too many requests are waiting; try again when some have ended")]
    Busy,
}

/// Accepts work of handlers.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    queue: mpsc::UnboundedSender<Job>,
    accepted: Arc<Semaphore>,
    running: Arc<Semaphore>,
    stages: Stages,
    stop: CancellationToken,
}

/// Runs the accepted work. Its futures need not be `Send`.
pub(crate) struct JobRunner(mpsc::UnboundedReceiver<Job>);

impl Jobs {
    /// `stop` cancels all work.
    pub(crate) fn new(stop: CancellationToken) -> (Self, JobRunner) {
        let (queue, jobs) = mpsc::unbounded_channel();
        let places = |count| Arc::new(Semaphore::new(count));
        let (accepted, running) = (places(ACCEPTED_MAX), places(RUNNING_MAX));
        (Self { queue, accepted, running, stages: Stages::default(), stop }, JobRunner(jobs))
    }

    /// Returns the token that cancels all work.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// The stages of all work.
    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Returns the result of work on an application, or on all with an empty name. If this future is dropped, the token of the work fires,
    /// and the work goes on to its end.
    pub(crate) async fn run<T, F>(
        &self,
        application: &str,
        work: impl FnOnce(CancellationToken) -> F + Send + 'static,
    ) -> Result<T, NotDone>
    where
        T: Send + 'static,
        F: Future<Output = T>,
    {
        let accepted = Arc::clone(&self.accepted).try_acquire_owned().map_err(|_| NotDone::Busy)?;
        let stages = self.stages.begin(application);
        stages.enter("waiting for other requests");
        let running = tokio::select! {
            place = Arc::clone(&self.running).acquire_owned() => place.map_err(|_| NotDone::Stopping)?,
            () = self.stop.cancelled() => return Err(NotDone::Stopping),
        };
        let cancel = self.stop.child_token();
        let guard = cancel.clone().drop_guard();
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move || {
            Box::pin(stages.scope(async move {
                drop(reply.send(Box::pin(work(cancel)).await));
                drop((accepted, running));
            }))
        });
        self.queue.send(job).map_err(|_| NotDone::Stopping)?;
        let result = answer.await.map_err(|_| NotDone::Stopping);
        guard.disarm();
        result
    }
}

impl JobRunner {
    /// Runs work until all [`Jobs`] are dropped and the accepted work has ended.
    pub(crate) async fn run(mut self) {
        let mut running = FuturesUnordered::new();
        loop {
            tokio::select! {
                job = self.0.recv() => match job {
                    Some(job) => running.push(job()),
                    None => break,
                },
                Some(()) = running.next() => {}
            }
        }
        while running.next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests;
