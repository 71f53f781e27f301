//! Passes an archive's bytes from the call that receives them to the thread that unpacks them.

use std::collections::VecDeque;
use std::io::{self, Read};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::gate::Progress;

/// Maximum number of pieces in the channel.
const PIECES_WAITING_MAX: usize = 4;

/// The call's end of the channel.
#[derive(Debug)]
pub(super) struct Feed {
    /// `None` marks the end of the archive.
    pieces: mpsc::Sender<Option<Bytes>>,
    bytes: usize,
}

/// The thread's end of the channel. If the call ends before the archive does, reading fails.
#[derive(Debug)]
pub(super) struct Pieces {
    waiting: VecDeque<Bytes>,
    current: Bytes,
    incoming: mpsc::Receiver<Option<Bytes>>,
    is_complete: bool,
    progress: Progress,
}

impl Feed {
    /// Creates both ends.
    pub(super) fn new(progress: Progress) -> (Self, Pieces) {
        let (pieces, incoming) = mpsc::channel(PIECES_WAITING_MAX);
        let (waiting, current) = (VecDeque::new(), Bytes::new());
        (Self { pieces, bytes: 0 }, Pieces { waiting, current, incoming, is_complete: false, progress })
    }

    /// Returns the number of bytes so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a piece to the bytes that the thread starts with.
    pub(super) fn buffer(&mut self, reader: &mut Pieces, piece: Bytes) {
        self.bytes += piece.len();
        reader.waiting.push_back(piece);
    }

    /// Sends a piece when the channel has room. Does nothing if the thread has stopped reading.
    pub(super) async fn send(&mut self, piece: Bytes) {
        self.bytes += piece.len();
        drop(self.pieces.send(Some(piece)).await);
    }

    /// Marks the end of the archive.
    pub(super) async fn end(&mut self) {
        drop(self.pieces.send(None).await);
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() && !self.is_complete {
            self.current = match self.waiting.pop_front() {
                Some(piece) => piece,
                None => match self.incoming.blocking_recv() {
                    Some(Some(piece)) => piece,
                    Some(None) => {
                        self.is_complete = true;
                        break;
                    }
                    None => {
                        return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the call has ended"));
                    }
                },
            };
            self.progress.step();
        }
        let count = self.current.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.current.split_to(count));
        Ok(count)
    }
}
