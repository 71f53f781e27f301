//! A client's connection, as hyper's HTTP/2 can read it.
//!
//! Argo CD's repo-server dials the socket by its path, so the `:authority` of its requests is that path, percent-encoded:
//! `home%2Fargocd%2Fcmp-server%2Fplugins%2Fhelm.sock` (`spec/cmp.md` 1.2). The `http` crate takes no `%` in a host, and `h2` ends the stream
//! with `PROTOCOL_ERROR` before anybody sees the request. So this layer stands between the socket and hyper. It looks for
//! header blocks in what the client sends and puts other octets in the place of those that are refused (`home-2Fargocd-2F…`). Nobody
//! reads the authority after that.
//!
//! **Every length stays.** A text of the same length takes as much of HPACK's dynamic table, so that the client's table and the reader's keep
//! in step, though one has the old text and the other the new one: what the client then sends as a reference to its table is already
//! right. And a coded text of the same length leaves the frames as they are. So there is no second HPACK decoder here with a table, limits and
//! errors of its own; nothing is encoded again; what is malformed, too large or too many gets to `h2` byte for byte, and `h2` answers as it
//! always does; no byte is ever added or lost. (Decoding and encoding again would need a decoder: the crates for that, `loona-hpack`
//! and `httlib-hpack`, have had no release since 2024.)
//!
//! The cost for an upload of 5.8 MB in messages of 1 KiB is 0.12 ms of work; read from a socket it takes less than without this layer (1.1 ms
//! instead of 1.3 ms), because more is read at a time (`benches/connection.rs`; 2026-11-21, the least of 101 rounds on two busy processors).
//!
//! What the server writes goes by untouched. So do all frames but HEADERS and CONTINUATION: of a DATA frame nothing is looked at but the
//! length. The test `plain_h2_refuses_the_authority_that_argo_cd_sends` fails when this module can go.

mod authority;
mod frames;
mod header_block;
mod idle;
mod opening;

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use frames::Frames;
use idle::Idle;
use opening::Opening;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::io::poll_read_buf;
use tonic::transport::server::Connected;

pub(crate) use idle::{ConnectionCalls, RunningCall};
pub(crate) use opening::{Patience, Place};

/// Bytes that are asked of the socket at a time. An upload comes in messages of 1 KiB, many of which wait in the socket.
const READ_BYTES: usize = 64 * 1024;

/// A stream of the server's side on which every request has an `:authority` that hyper takes.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    stream: S,
    frames: Frames,
    /// What was read and not yet handed on.
    buffer: BytesMut,
    /// How many of its first bytes can be handed on.
    released: usize,
    /// The client has sent its last byte.
    ended: bool,
    calls: ConnectionCalls,
    /// What a connection of the server waits for, and for how long.
    waiting: Waiting,
    /// Its place among the connections, which is free when this is dropped.
    place: Option<Place>,
}

/// What a connection waits for.
#[derive(Debug)]
enum Waiting {
    /// Its first frame.
    Begin(Opening, Patience),
    /// A call, if none is running.
    Call(Idle),
    /// Anything, for ever.
    Anything,
}

impl<S> Connection<S> {
    /// A connection that may be silent for ever.
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            frames: Frames::new(),
            buffer: BytesMut::new(),
            released: 0,
            ended: false,
            calls: ConnectionCalls::new(),
            waiting: Waiting::Anything,
            place: None,
        }
    }

    /// A connection that has just been accepted. Reading from it fails if its preface and first frame, or later a call, do not come in time.
    pub(crate) fn accepted(stream: S, place: Place, patience: Patience) -> Self {
        let waiting = Waiting::Begin(Opening::new(patience.preface_max), patience);
        Self { waiting, place: Some(place), ..Self::new(stream) }
    }
}

/// Sends bytes, the first of which says in pieces of what length, and the same bytes in one piece. Panics if a byte is added or lost, or if it
/// matters where the bytes are cut.
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
    assert!(arrived == whole, "cut into pieces the bytes become others");
}

impl<S: AsyncRead + Unpin> Connection<S> {
    /// Waits until there is something to hand on, or the end.
    fn poll_release(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.released == 0 && !self.ended {
            self.buffer.reserve(READ_BYTES);
            let count = ready!(poll_read_buf(Pin::new(&mut self.stream), context, &mut self.buffer))?;
            self.ended = count == 0;
            // The beginning of a block that never became whole is the reader's to judge.
            self.released =
                if self.ended { self.buffer.len() } else { self.frames.release(&mut self.buffer) };
            if self.frames.take_request() {
                self.calls.request();
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Waits until what the connection waits for is overdue.
    fn poll_overdue(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Waiting::Begin(_, patience) = &self.waiting
            && self.frames.is_opened()
        {
            self.waiting = Waiting::Call(Idle::new(patience.idle_max));
        }
        let error = match &mut self.waiting {
            Waiting::Begin(opening, _) => {
                let error = ready!(opening.poll_overdue(context));
                self.place.as_ref().inspect(|place| place.silent());
                error
            }
            Waiting::Call(idle) => {
                let error = ready!(idle.poll_overdue(&self.calls, context));
                self.place.as_ref().inspect(|place| place.idle());
                error
            }
            Waiting::Anything => return Poll::Pending,
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
            Poll::Pending => return this.poll_overdue(context),
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

/// Each request has the calls of its connection among its extensions.
impl<S> Connected for Connection<S> {
    type ConnectInfo = ConnectionCalls;

    fn connect_info(&self) -> ConnectionCalls {
        self.calls.clone()
    }
}

#[cfg(test)]
mod tests;
