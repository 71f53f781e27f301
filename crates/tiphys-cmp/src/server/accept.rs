//! Accepts connections, up to a maximum.
//!
//! Above the maximum no caller is rejected. A caller waits in the listen queue of the socket, in the order of arrival, and is accepted when
//! another connection ends. Accepting and closing at once would cost the caller the back-off of its library before the next attempt, and
//! could hit the same caller repeatedly. Waiting costs this server not even a descriptor.

use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use tiphys_model::limits::Limit;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use super::episode::Episode;
use crate::connection::{Connection, ConnectionSlot, ConnectionTimeouts};
use crate::metrics::Metrics;

/// Pause after the system refuses to accept, as it does while too many files are open. Doubles after each further refusal, up to
/// `PAUSE_MAX`.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionLimits {
    /// Maximum number of open connections.
    pub(super) connections_max: NonZeroU32,
    /// Timeouts of each connection.
    pub(super) timeouts: ConnectionTimeouts,
}

/// Returns the stream of the listener's connections, which does not end.
pub(super) fn connections(
    listener: UnixListener,
    limits: ConnectionLimits,
    metrics: Arc<Metrics>,
) -> impl Stream<Item = io::Result<Connection<UnixStream>>> {
    let slots = usize::try_from(limits.connections_max.get()).unwrap_or(Semaphore::MAX_PERMITS);
    let acceptor = Acceptor {
        listener,
        limits,
        metrics,
        slots: Arc::new(Semaphore::new(slots)),
        full: Episode::default(),
        refused: Episode::default(),
    };
    unfold(acceptor, async |mut acceptor| Some((Ok(acceptor.next().await), acceptor)))
}

/// Accepts connections and logs why it cannot.
struct Acceptor {
    listener: UnixListener,
    limits: ConnectionLimits,
    metrics: Arc<Metrics>,
    slots: Arc<Semaphore>,
    /// All slots are taken.
    full: Episode<()>,
    /// The system refuses, with this `errno`.
    refused: Episode<Option<i32>>,
}

impl Acceptor {
    async fn next(&mut self) -> Connection<UnixStream> {
        let permit = self.permit().await;
        let mut pause = PAUSE_MIN;
        let stream = loop {
            match self.listener.accept().await {
                Ok((stream, _)) => break stream,
                Err(error) => {
                    self.metrics.accept_failed();
                    if self.refused.occurred(error.raw_os_error(), Instant::now()) {
                        tracing::warn!(
                            "cannot accept connections, retrying; logged again when the error changes: {error}"
                        );
                    }
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        };
        if self.refused.is_over(Instant::now()) {
            tracing::info!("connections are accepted again");
        }
        let slot = ConnectionSlot::new(permit, Arc::clone(&self.metrics));
        Connection::accepted(stream, slot, self.limits.timeouts)
    }

    /// Waits for a free slot.
    async fn permit(&mut self) -> OwnedSemaphorePermit {
        if let Ok(permit) = Arc::clone(&self.slots).try_acquire_owned() {
            if self.full.is_over(Instant::now()) {
                tracing::info!("connections are below the maximum again");
            }
            return permit;
        }
        self.metrics.connections_full();
        if self.full.occurred((), Instant::now()) {
            tracing::warn!(
                "{} connections are open: others wait until one ends: {}",
                self.limits.connections_max,
                Limit::CONNECTIONS_MAX
            );
        }
        match Arc::clone(&self.slots).acquire_owned().await {
            Ok(permit) => permit,
            // The semaphore is never closed.
            Err(_) => std::future::pending().await,
        }
    }
}
