//! Work of requests that must come to its end: plugins are stopped in order, also if the browser has disconnected.

use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

type Work = Pin<Box<dyn Future<Output = ()>>>;
type Job = Box<dyn FnOnce() -> Work + Send>;

/// The server is stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopping;

/// Accepts work of handlers.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    queue: mpsc::UnboundedSender<Job>,
    stop: CancellationToken,
}

/// Runs the accepted work. Its futures need not be `Send`.
pub(crate) struct JobRunner(mpsc::UnboundedReceiver<Job>);

impl Jobs {
    /// `stop` cancels all work.
    pub(crate) fn new(stop: CancellationToken) -> (Self, JobRunner) {
        let (queue, jobs) = mpsc::unbounded_channel();
        (Self { queue, stop }, JobRunner(jobs))
    }

    /// Returns the token that cancels all work.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Returns the result of work. If this future is dropped, the token of the work fires, and the work goes on to its end.
    pub(crate) async fn run<T, F>(
        &self,
        work: impl FnOnce(CancellationToken) -> F + Send + 'static,
    ) -> Result<T, Stopping>
    where
        T: Send + 'static,
        F: Future<Output = T>,
    {
        let cancel = self.stop.child_token();
        let guard = cancel.clone().drop_guard();
        let (reply, answer) = oneshot::channel();
        let job: Job =
            Box::new(move || Box::pin(async move { drop(reply.send(Box::pin(work(cancel)).await)) }));
        self.queue.send(job).map_err(|_| Stopping)?;
        let result = answer.await.map_err(|_| Stopping);
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
