//! Connections of callers.

use std::io;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::sleep;

use crate::connection::Connection;

/// How long nobody is accepted after the system has refused, which it does while there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// The listener's connections, for ever.
pub(super) fn connections(listener: UnixListener) -> impl Stream<Item = io::Result<Connection<UnixStream>>> {
    unfold(listener, async |listener| {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return Some((Ok(Connection::new(stream)), listener)),
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    sleep(PAUSE).await;
                }
            }
        }
    })
}
