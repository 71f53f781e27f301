//! A text handed to the tokenizer in pieces that end between characters, and then perhaps the reason why there is no more.

use std::io::{self, BufRead, Read};

/// How much the tokenizer is given at once, in bytes. It keeps four bytes for each character that it has not used.
const PIECE_BYTES: usize = 4096;

/// A text, and what is wrong after it.
pub(super) struct Source<'a> {
    text: &'a str,
    broken: Option<&'static str>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, broken: Option<&'static str>) -> Self {
        Self { text, broken }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.broken {
            Some(reason) if self.text.is_empty() => Err(io::Error::new(io::ErrorKind::InvalidData, reason)),
            _ => {
                let end = self.text.floor_char_boundary(PIECE_BYTES);
                Ok(self.text.as_bytes().get(..end).unwrap_or_default())
            }
        }
    }

    fn consume(&mut self, amount: usize) {
        self.text = self.text.get(amount..).unwrap_or_default();
    }
}
