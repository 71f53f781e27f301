//! Connections of callers, as many at once as there may be.
//!
//! Above the bound nobody is turned away: a caller waits in the system's queue of the socket, in the order of arrival, and is accepted as soon
//! as another connection ends. To accept and to close at once would cost the caller its library's pause before the next try, and might
//! strike the same caller again and again. Waiting costs this server nothing, not even a descriptor.

use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use super::episode::Episode;
use crate::connection::{Connection, Patience, Place};
use crate::metrics::Metrics;

/// How long nobody is accepted after the system has refused, which it does while there are too many open files; twice as long after each
/// further refusal, up to the second one.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionBounds {
    /// Open at once.
    pub(super) connections_max: NonZeroU32,
    /// How long one may take, and be silent.
    pub(super) patience: Patience,
}

/// The listener's connections, for ever.
pub(super) fn connections(
    listener: UnixListener,
    bounds: ConnectionBounds,
    metrics: Arc<Metrics>,
) -> impl Stream<Item = io::Result<Connection<UnixStream>>> {
    let places = usize::try_from(bounds.connections_max.get()).unwrap_or(Semaphore::MAX_PERMITS);
    let door = Door {
        listener,
        bounds,
        metrics,
        places: Arc::new(Semaphore::new(places)),
        full: Episode::default(),
        refused: Episode::default(),
    };
    unfold(door, async |mut door| Some((Ok(door.next().await), door)))
}

/// Where callers come in.
struct Door {
    listener: UnixListener,
    bounds: ConnectionBounds,
    metrics: Arc<Metrics>,
    places: Arc<Semaphore>,
    /// There is no place.
    full: Episode<()>,
    /// The system refuses, with this number of an error.
    refused: Episode<Option<i32>>,
}

impl Door {
    async fn next(&mut self) -> Connection<UnixStream> {
        let place = self.place().await;
        let mut pause = PAUSE_MIN;
        let stream = loop {
            match self.listener.accept().await {
                Ok((stream, _)) => break stream,
                Err(error) => {
                    self.metrics.accept_failed();
                    if self.refused.happens(error.raw_os_error(), Instant::now()) {
                        tracing::warn!(
                            "cannot accept connections, which is tried again and not told again until it changes: {error}"
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
        let place = Place::new(place, Arc::clone(&self.metrics));
        Connection::accepted(stream, place, self.bounds.patience)
    }

    /// A place for one more connection, as soon as there is one.
    async fn place(&mut self) -> OwnedSemaphorePermit {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            if self.full.is_over(Instant::now()) {
                tracing::info!("there is room for connections again");
            }
            return place;
        }
        self.metrics.connections_full();
        if self.full.happens((), Instant::now()) {
            tracing::warn!(
                "{} connections are open: others wait until one ends; see --connections-max",
                self.bounds.connections_max
            );
        }
        match Arc::clone(&self.places).acquire_owned().await {
            Ok(place) => place,
            // Nobody closes it.
            Err(_) => std::future::pending().await,
        }
    }
}
