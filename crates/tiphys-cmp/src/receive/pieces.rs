//! The way of an archive's bytes from the call that receives them to the thread that unpacks them.

use std::collections::VecDeque;
use std::io::{self, Read};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::gate::Progress;

/// Pieces that wait between the call and the thread.
const PIECES_WAITING_MAX: usize = 4;

/// The call's end.
#[derive(Debug)]
pub(super) struct Feed {
    /// `None` says that the archive is whole.
    pieces: mpsc::Sender<Option<Bytes>>,
    bytes: usize,
}

/// The thread's end. Bytes that will never come, because the call has ended, are an error and not an end.
#[derive(Debug)]
pub(super) struct Pieces {
    waiting: VecDeque<Bytes>,
    current: Bytes,
    coming: mpsc::Receiver<Option<Bytes>>,
    is_whole: bool,
    progress: Progress,
}

impl Feed {
    /// Both ends.
    pub(super) fn new(progress: Progress) -> (Self, Pieces) {
        let (pieces, coming) = mpsc::channel(PIECES_WAITING_MAX);
        let (waiting, current) = (VecDeque::new(), Bytes::new());
        (Self { pieces, bytes: 0 }, Pieces { waiting, current, coming, is_whole: false, progress })
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a piece to what the thread begins with.
    pub(super) fn begin_with(&mut self, reader: &mut Pieces, piece: Bytes) {
        self.bytes += piece.len();
        reader.waiting.push_back(piece);
    }

    /// Hands a piece over, when there is room for it. Nothing happens if the thread wants no more.
    pub(super) async fn send(&mut self, piece: Bytes) {
        self.bytes += piece.len();
        drop(self.pieces.send(Some(piece)).await);
    }

    /// Says that the archive is whole.
    pub(super) async fn end(&mut self) {
        drop(self.pieces.send(None).await);
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() && !self.is_whole {
            self.current = match self.waiting.pop_front() {
                Some(piece) => piece,
                None => match self.coming.blocking_recv() {
                    Some(Some(piece)) => piece,
                    Some(None) => {
                        self.is_whole = true;
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
