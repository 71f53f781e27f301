//! A client's connection, changed so that hyper accepts its requests.
//!
//! Argo CD's repo-server dials the socket by its path, so the `:authority` of its requests is that path, percent-encoded:
//! `home%2Fargocd%2Fcmp-server%2Fplugins%2Fhelm.sock`. The `http` crate allows no `%` in a host, and `h2` ends the stream with
//! `PROTOCOL_ERROR` before the server sees the request. So this layer between the socket and hyper finds header blocks in the client's
//! bytes and replaces the rejected octets (`home-2Fargocd-2F…`). The authority is not used after that.
//!
//! **No length changes.** A string of the same length takes the same space in HPACK's dynamic table, so the tables of client and reader
//! stay in step, although they contain different strings: a later reference to the table is right without a change. A coded string of the
//! same length also keeps the frames. So this layer needs no HPACK decoder with its own table, limits and errors, and encodes nothing.
//! Malformed and oversized input reaches `h2` unchanged, `h2` answers it as always, and no byte is added or lost. (The crates that could
//! decode and encode, `loona-hpack` and `httlib-hpack`, have had no release since 2024.)
//!
//! An upload of 5.8 MB in messages of 1 KiB costs 0.12 ms of CPU time. Reading it from a socket is faster than without this layer (1.1 ms
//! instead of 1.3 ms), because more is read at a time (`benches/connection.rs`; 2026-11-21, minimum of 101 rounds on two busy processors).
//!
//! The server's bytes, and all frames but HEADERS and CONTINUATION, pass unchanged; of a DATA frame only the length is read. If the test
//! `plain_h2_rejects_the_authority_of_argo_cd` fails, this module can be removed.

mod authority;
mod frames;
mod header_block;
mod idle;
mod preface;

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use frames::Frames;
use idle::IdleTimeout;
use preface::PrefaceTimeout;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::io::poll_read_buf;
use tonic::transport::server::Connected;

pub(crate) use idle::{ConnectionCalls, RunningCall};
pub(crate) use preface::{ConnectionSlot, ConnectionTimeouts};

/// Bytes read from the socket at a time. An upload consists of messages of 1 KiB, many of which wait in the socket.
const READ_BYTES: usize = 64 * 1024;

/// The server's side of a stream, on which every request has an `:authority` that hyper accepts.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    stream: S,
    frames: Frames,
    /// Bytes that were read and not yet passed on.
    buffer: BytesMut,
    /// How many of its first bytes can be passed on.
    released: usize,
    /// Whether the client closed its side.
    ended: bool,
    calls: ConnectionCalls,
    /// The awaited event, and its timeout.
    state: ConnectionState,
    /// Its slot among the connections, released when this is dropped.
    slot: Option<ConnectionSlot>,
}

/// The event that a connection waits for.
#[derive(Debug)]
enum ConnectionState {
    /// Its first frame.
    Preface(PrefaceTimeout, ConnectionTimeouts),
    /// A call, if none is running.
    Call(IdleTimeout),
    /// Without a timeout.
    Unlimited,
}

impl<S> Connection<S> {
    /// Creates a connection without timeouts.
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            frames: Frames::new(),
            buffer: BytesMut::new(),
            released: 0,
            ended: false,
            calls: ConnectionCalls::new(),
            state: ConnectionState::Unlimited,
            slot: None,
        }
    }

    /// Creates an accepted connection. Reading fails if its preface and first frame, or later a call, do not arrive in time.
    pub(crate) fn accepted(stream: S, slot: ConnectionSlot, timeouts: ConnectionTimeouts) -> Self {
        let state = ConnectionState::Preface(PrefaceTimeout::new(timeouts.preface_max), timeouts);
        Self { state, slot: Some(slot), ..Self::new(stream) }
    }
}

/// Passes bytes in pieces, of the length given by the first byte, and in one piece. Panics if a byte is added or lost, or if the result
/// depends on the pieces.
pub fn fuzz_connection(data: &[u8]) {
    let Some((&piece, sent)) = data.split_first() else { return };
    let mut whole = sent.to_vec();
    Frames::new().release(&mut whole);
    let (mut frames, mut arrived, mut held) = (Frames::new(), Vec::new(), Vec::new());
    for piece in sent.chunks(usize::from(piece) + 1) {
        held.extend_from_slice(piece);
        let released = frames.release(&mut held);
        arrived.extend(held.drain(..released));
    }
    arrived.extend(held);
    assert!(arrived == whole, "the result depends on the pieces");
}

impl<S: AsyncRead + Unpin> Connection<S> {
    /// Waits until bytes can be passed on, or for the end.
    fn poll_release(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.released == 0 && !self.ended {
            self.buffer.reserve(READ_BYTES);
            let count = ready!(poll_read_buf(Pin::new(&mut self.stream), context, &mut self.buffer))?;
            self.ended = count == 0;
            // An incomplete block at the end is passed on unchanged, for the reader to reject.
            self.released =
                if self.ended { self.buffer.len() } else { self.frames.release(&mut self.buffer) };
            if self.frames.take_request() {
                self.calls.request();
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Waits until the connection's timeout expires.
    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let ConnectionState::Preface(_, timeouts) = &self.state
            && self.frames.is_opened()
        {
            self.state = ConnectionState::Call(IdleTimeout::new(timeouts.idle_max));
        }
        let error = match &mut self.state {
            ConnectionState::Preface(opening, _) => {
                let error = ready!(opening.poll_expired(context));
                self.slot.as_ref().inspect(|slot| slot.silent());
                error
            }
            ConnectionState::Call(idle) => {
                let error = ready!(idle.poll_expired(&self.calls, context));
                self.slot.as_ref().inspect(|slot| slot.idle());
                error
            }
            ConnectionState::Unlimited => return Poll::Pending,
        };
        Poll::Ready(Err(error))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.poll_release(context) {
            Poll::Ready(released) => released?,
            Poll::Pending => return this.poll_expired(context),
        }
        let count = this.released.min(out.remaining());
        out.put_slice(&this.buffer[..count]);
        this.buffer.advance(count);
        this.released -= count;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Each request carries the calls of its connection in its extensions.
impl<S> Connected for Connection<S> {
    type ConnectInfo = ConnectionCalls;

    fn connect_info(&self) -> ConnectionCalls {
        self.calls.clone()
    }
}

#[cfg(test)]
mod tests;
