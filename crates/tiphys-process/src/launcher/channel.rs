//! The launcher's end of the pipes to its parent.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use crate::message::{Event, HEADER_BYTES, Request, decode, encode, payload_bytes};

/// Standard input and output, unbuffered, so that poll reports all data that is left to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    requests: BorrowedFd<'static>,
    events: BorrowedFd<'static>,
}

impl Channel {
    /// The channel on the pipes that the parent made.
    pub(super) fn new() -> Self {
        Self { requests: rustix::stdio::stdin(), events: rustix::stdio::stdout() }
    }

    /// Descriptor for poll. Readable when a request arrived or the parent closed the pipe.
    pub(super) fn descriptor(self) -> BorrowedFd<'static> {
        self.requests
    }

    /// Returns the next request, `None` if the parent closed the pipe.
    pub(super) fn receive(self) -> io::Result<Option<Request>> {
        let mut head = [0; HEADER_BYTES];
        if !self.read_whole(&mut head)? {
            return Ok(None);
        }
        let mut payload = vec![0; payload_bytes(head)];
        if !self.read_whole(&mut payload)? {
            return Ok(None);
        }
        decode(&payload).map(Some)
    }

    /// Sends an event to the parent.
    pub(super) fn send(self, event: &Event) -> io::Result<()> {
        let frame = encode(event)?;
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(self.events, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn read_whole(self, buffer: &mut [u8]) -> io::Result<bool> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match rustix::io::read(self.requests, rest) {
                Ok(0) => return Ok(false),
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}
