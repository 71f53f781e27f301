//! A listener that holds few connections, and none for long that says nothing.

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

/// Connections at once; more wait until one ends. A collector needs one.
pub const METRICS_CONNECTIONS_MAX: usize = 32;

/// How long a request may take to come, from the connection or its first byte to the first byte of the answer: whoever is silent, or sends
/// byte after byte, holds no place for longer. Answers are made at once.
const REQUEST_MAX: Duration = Duration::from_secs(5);

/// How long an answered connection may wait for its next request. A collector that asks less often connects anew.
const IDLE_MAX: Duration = Duration::from_secs(15);

/// The listener.
pub(super) struct Bounded {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self { listener, places: Arc::new(Semaphore::new(METRICS_CONNECTIONS_MAX)) }
    }
}

impl Listener for Bounded {
    type Io = Held;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Held, SocketAddr) {
        // Nobody closes the semaphore; without a place there would just be no bound.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (Held { stream, phase: Phase::Request, end: Box::pin(sleep(REQUEST_MAX)), _place: place }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, its place, and when it ends unless it gets further.
pub(super) struct Held {
    stream: TcpStream,
    phase: Phase,
    end: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A request is coming, or its answer is made.
    Request,
    /// An answer is being written or was, and no byte of the next request has come.
    Answered,
}

impl Held {
    /// Another phase, with its time from now on. More bytes of one request do not give it more time.
    fn enter(&mut self, phase: Phase, time: Duration) {
        self.phase = phase;
        self.end.as_mut().reset(Instant::now() + time);
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        self.end.as_mut().poll(context).is_ready()
    }
}

impl AsyncRead for Held {
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
            self.enter(Phase::Request, REQUEST_MAX);
        }
        read
    }
}

impl AsyncWrite for Held {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            // Whoever does not read the answer holds no place, either.
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
