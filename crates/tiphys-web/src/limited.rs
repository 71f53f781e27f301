//! A listener that limits connections and closes idle ones.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// Limit of open connections; further ones wait. A collector needs one.
pub const CONNECTIONS_MAX: usize = 32;

/// Idle time of a connection between requests. A collector that asks less often reconnects.
const IDLE_MAX: Duration = Duration::from_secs(15);

/// The listener.
pub(crate) struct LimitedListener {
    listener: TcpListener,
    places: Arc<Semaphore>,
    request_max: Duration,
}

impl LimitedListener {
    /// `request_max` is the limit for a request from the connection or its first byte to the first byte of the response, so that slow clients
    /// are disconnected.
    pub(crate) fn new(listener: TcpListener, request_max: Duration) -> Self {
        Self { listener, places: Arc::new(Semaphore::new(CONNECTIONS_MAX)), request_max }
    }
}

impl Listener for LimitedListener {
    type Io = LimitedConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (LimitedConnection, SocketAddr) {
        // The semaphore is never closed; without a permit there would only be no limit.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (
            LimitedConnection {
                stream,
                phase: Phase::Request,
                end: Box::pin(sleep(self.request_max)),
                request_max: self.request_max,
                _place: place,
            },
            address,
        )
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection with its permit and deadline.
pub(crate) struct LimitedConnection {
    stream: TcpStream,
    phase: Phase,
    end: Pin<Box<Sleep>>,
    request_max: Duration,
    _place: Option<OwnedSemaphorePermit>,
}

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A request is being received or its response is created.
    Request,
    /// A response is being or was written, and no byte of the next request has been received.
    Answered,
}

impl LimitedConnection {
    /// Enters another phase with its own deadline. Further bytes of one request do not extend it.
    fn enter(&mut self, phase: Phase, time: Duration) {
        self.phase = phase;
        self.end.as_mut().reset(Instant::now() + time);
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        self.end.as_mut().poll(context).is_ready()
    }
}

impl AsyncRead for LimitedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_late(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before && self.phase == Phase::Answered {
            let request_max = self.request_max;
            self.enter(Phase::Request, request_max);
        }
        read
    }
}

impl AsyncWrite for LimitedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            // A client that does not read the response is disconnected as well.
            Poll::Pending if self.is_late(context) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
            ready @ Poll::Ready(_) => {
                self.enter(Phase::Answered, IDLE_MAX);
                ready
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
