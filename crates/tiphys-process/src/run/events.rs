//! The parent's end of the pipe from a launcher.

use std::io;

use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;

use crate::message::{Event, HEADER_BYTES, decode, payload_bytes};

/// Bytes read at once.
const CHUNK_BYTES: usize = 128 * 1024;

/// Reads events. A partly read event stays in the buffer if a future is dropped.
#[derive(Debug)]
pub(super) struct Events {
    pipe: ChildStdout,
    buffer: Vec<u8>,
    consumed: usize,
}

impl Events {
    pub(super) fn new(pipe: ChildStdout) -> Self {
        Self { pipe, buffer: Vec::new(), consumed: 0 }
    }

    /// Returns the next event, `None` if the launcher closed the pipe. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.take()? {
                return Ok(Some(event));
            }
            self.buffer.drain(..self.consumed);
            self.consumed = 0;
            self.buffer.reserve(CHUNK_BYTES);
            if self.pipe.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Takes an event that is completely in the buffer.
    fn take(&mut self) -> io::Result<Option<Event>> {
        let rest = self.buffer.get(self.consumed..).unwrap_or_default();
        let Some((head, rest)) = rest.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let length = payload_bytes(*head);
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let event = decode(payload)?;
        self.consumed += HEADER_BYTES + length;
        Ok(Some(event))
    }
}
