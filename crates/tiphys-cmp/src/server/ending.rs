//! The end of a server: calls that are running are finished, or ended when their time is over.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use super::ServeError;
use crate::calls::Running;

/// How long calls that were told to end may take for it.
const ABORT_MAX: Duration = Duration::from_secs(2);
/// How long callers may take to read the last answers, and to hear that there will be no more.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// How long [`Ending::of`] takes at most: a call may begin in the last moment of the grace period.
pub(super) const fn wind_up_max(grace: Duration) -> Duration {
    grace.saturating_add(FLUSH_MAX).saturating_add(ABORT_MAX).saturating_add(FLUSH_MAX)
}

/// What there is to end.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) health: HealthReporter,
    pub(super) running: Running,
    /// Makes calls end at once.
    pub(super) abort: CancellationToken,
    /// How long calls may go on.
    pub(super) grace: Duration,
}

impl Ending {
    /// Brings a server to its end that has been told to accept no more connections. A caller that has not yet heard of it may still begin a
    /// call on the connection that it has, which is a call as any other.
    pub(super) async fn of(
        mut self,
        mut serving: Pin<&mut impl Future<Output = Result<(), tonic::transport::Error>>>,
    ) -> Result<(), ServeError> {
        let until = Instant::now() + self.grace;
        self.health.set_service_status("", ServingStatus::NotServing).await;
        loop {
            tokio::select! {
                biased;
                ended = &mut serving => return Ok(ended?),
                () = self.running.ended() => {}
                () = sleep_until(until) => {
                    tracing::warn!("calls did not end within {:?}; they are ended now", self.grace);
                    self.abort.cancel();
                    tokio::select! {
                        ended = &mut serving => return Ok(ended?),
                        () = self.running.ended() => {}
                        () = sleep(ABORT_MAX) => tracing::warn!("calls do not end; they are left"),
                    }
                }
            }
            self.end_watches().await;
            tokio::select! {
                ended = &mut serving => return Ok(ended?),
                () = self.running.begun(), if !self.abort.is_cancelled() => {}
                () = sleep(FLUSH_MAX) => break,
            }
        }
        // Whoever is still there, or comes in this moment, is not to wait for what does not come.
        self.abort.cancel();
        Ok(())
    }

    /// Those who watch the health are told before that it is bad. They would watch for ever, and keep their connections.
    async fn end_watches(&mut self) {
        self.health.clear_service_status("").await;
        self.health.set_service_status("", ServingStatus::NotServing).await;
    }
}
