//! Shuts a server down: running calls finish, or are cancelled after the grace period.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::calls::Running;

/// Maximum wait for cancelled calls.
const ABORT_MAX: Duration = Duration::from_secs(2);
/// Maximum wait for callers to read the last answers and the announced shutdown.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// Returns the maximum duration of [`Ending::of`]. A call may begin at the end of the grace period.
pub(super) const fn shutdown_max(grace: Duration) -> Duration {
    grace.saturating_add(FLUSH_MAX).saturating_add(ABORT_MAX).saturating_add(FLUSH_MAX)
}

/// A server that is shutting down.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) health: HealthReporter,
    pub(super) running: Running,
    /// Cancels running calls.
    pub(super) abort: CancellationToken,
    /// How long running calls may continue.
    pub(super) grace: Duration,
}

impl Ending {
    /// Waits for the end of a server that accepts no more connections. A caller that has not yet learned of the shutdown may still begin a
    /// call on its connection, which is treated like any other.
    pub(super) async fn of(
        mut self,
        mut serving: Pin<&mut impl Future<Output = Result<(), tonic::transport::Error>>>,
    ) -> Result<(), tonic::transport::Error> {
        let until = Instant::now() + self.grace;
        self.health.set_service_status("", ServingStatus::NotServing).await;
        loop {
            tokio::select! {
                biased;
                ended = &mut serving => return ended,
                () = self.running.wait_for_none() => {}
                () = sleep_until(until) => {
                    tracing::warn!("calls did not end within {:?}; cancelling them", self.grace);
                    self.abort.cancel();
                    tokio::select! {
                        ended = &mut serving => return ended,
                        () = self.running.wait_for_none() => {}
                        () = sleep(ABORT_MAX) => tracing::warn!("cancelled calls did not end; shutting down without them"),
                    }
                }
            }
            self.end_watches().await;
            tokio::select! {
                ended = &mut serving => return ended,
                () = self.running.wait_for_some(), if !self.abort.is_cancelled() => {}
                () = sleep(FLUSH_MAX) => break,
            }
        }
        // Callers that remain, or begin a call at this moment, get an error at once.
        self.abort.cancel();
        Ok(())
    }

    /// Health watches get the status `NOT_SERVING` and then end. They would otherwise keep their connections open.
    async fn end_watches(&mut self) {
        self.health.clear_service_status("").await;
        self.health.set_service_status("", ServingStatus::NotServing).await;
    }
}
