//! Output of any length in limited memory: its beginning and its end.

use std::collections::VecDeque;

/// A part of the line that replaces omitted bytes in the standard error of processes.
pub const CUT_MARK: &str = " bytes left out …]";

/// A buffer that keeps the first and the last half of the bytes written to it.
#[derive(Debug)]
pub(crate) struct HeadAndTail {
    head: Vec<u8>,
    head_bytes_max: usize,
    tail: VecDeque<u8>,
    tail_bytes_max: usize,
    left_out_bytes: u64,
}

impl HeadAndTail {
    /// A buffer that keeps at most `bytes_max` bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        let head_bytes_max = bytes_max / 2;
        Self {
            head: Vec::new(),
            head_bytes_max,
            tail: VecDeque::new(),
            tail_bytes_max: bytes_max - head_bytes_max,
            left_out_bytes: 0,
        }
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, piece: &[u8]) {
        let room = self.head_bytes_max - self.head.len();
        let (first, rest) = piece.split_at(room.min(piece.len()));
        self.head.extend_from_slice(first);
        let too_many = (self.tail.len() + rest.len()).saturating_sub(self.tail_bytes_max);
        let from_tail = too_many.min(self.tail.len());
        self.tail.drain(..from_tail);
        self.tail.extend(rest.iter().skip(too_many - from_tail));
        self.left_out_bytes += too_many as u64;
    }

    /// Returns the kept bytes. A separate line reports the number of omitted bytes, if any.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let mut text = self.head;
        if self.left_out_bytes > 0 {
            if text.last().is_some_and(|last| *last != b'\n') {
                text.push(b'\n');
            }
            text.extend_from_slice(format!("[… {}{CUT_MARK}\n", self.left_out_bytes).as_bytes());
        }
        text.extend(self.tail);
        text
    }
}

#[cfg(test)]
mod tests;
