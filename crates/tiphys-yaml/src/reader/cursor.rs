//! A place in a text that moves forward and knows its line and column.

use crate::{Error, Position};

/// A place in the text; all count from 0, column and index in characters, the offset in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) index: usize,
    pub(super) offset: usize,
}

/// Reads a text character by character.
pub(super) struct Cursor<'a> {
    text: &'a str,
    mark: Mark,
    origin: Position,
    /// Why there is no more after the text, if something is wrong there.
    broken: Option<String>,
}

impl<'a> Cursor<'a> {
    /// `origin` is where the text begins in what positions count from. The text is read up to the first character that YAML
    /// does not allow, or up to its end and then `broken`.
    pub(super) fn new(text: &'a str, broken: Option<&str>, origin: Position) -> Self {
        let (text, broken) = match first_not_allowed(text) {
            Some((end, character)) => {
                let reason = format!("control character U+{:04X} is not allowed", u32::from(character));
                (text.get(..end).unwrap_or_default(), Some(reason))
            }
            None => (text, broken.map(str::to_owned)),
        };
        Self { text, mark: Mark::default(), origin, broken }
    }

    pub(super) fn mark(&self) -> Mark {
        self.mark
    }

    pub(super) fn column(&self) -> usize {
        self.mark.column
    }

    /// What is still to be read.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.mark.offset..).unwrap_or_default()
    }

    /// The next byte. Every character that YAML gives a meaning is one byte, but for three line breaks.
    pub(super) fn byte(&self) -> Option<u8> {
        self.byte_at(0)
    }

    /// The byte that comes `ahead` bytes after the next one.
    pub(super) fn byte_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.mark.offset + ahead).copied()
    }

    pub(super) fn is(&self, byte: u8) -> bool {
        self.byte() == Some(byte)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.mark.offset >= self.text.len()
    }

    pub(super) fn is_blank(&self) -> bool {
        matches!(self.byte(), Some(b' ' | b'\t'))
    }

    /// Whether a line ends here; the end of the text is not counted.
    pub(super) fn is_break(&self) -> bool {
        self.break_bytes(0) > 0
    }

    pub(super) fn is_break_or_end(&self) -> bool {
        self.is_at_end() || self.is_break()
    }

    /// Whether white space, a line break or the end of the text comes `ahead` bytes after the next one.
    pub(super) fn is_space_at(&self, ahead: usize) -> bool {
        match self.byte_at(ahead) {
            None | Some(b' ' | b'\t') => true,
            Some(_) => self.break_bytes(ahead) > 0,
        }
    }

    /// Whether the line begins with this marker of documents, followed by white space.
    pub(super) fn is_marker(&self, marker: &str) -> bool {
        self.mark.column == 0 && self.rest().starts_with(marker) && self.is_space_at(marker.len())
    }

    /// Skips ASCII characters that are no line breaks.
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.mark.offset += count;
        self.mark.column += count;
        self.mark.index += count;
    }

    /// Appends characters as long as the run goes on, which all bytes of a character beyond ASCII must agree on, and no line
    /// break comes.
    pub(super) fn read_while(&mut self, text: &mut String, goes_on: impl Fn(u8) -> bool) {
        text.push_str(self.take_while(goes_on));
    }

    pub(super) fn skip_to_break(&mut self) {
        self.take_while(|_| true);
    }

    fn take_while(&mut self, goes_on: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let stops = |(at, byte): (usize, u8)| match byte {
            b'\r' | b'\n' => true,
            0xC2 | 0xE2 if break_bytes(rest.as_bytes().get(at..).unwrap_or_default()) > 0 => true,
            _ => !goes_on(byte),
        };
        let length = rest.bytes().enumerate().position(stops).unwrap_or(rest.len());
        let taken = rest.get(..length).unwrap_or_default();
        let characters = taken.chars().count();
        self.mark.offset += length;
        self.mark.column += characters;
        self.mark.index += characters;
        taken
    }

    /// Skips a line break, if there is one, and appends what it stands for in a text.
    pub(super) fn read_break(&mut self, text: &mut String) {
        text.push_str(self.take_break());
    }

    pub(super) fn skip_break(&mut self) {
        self.take_break();
    }

    fn take_break(&mut self) -> &'a str {
        let bytes = self.break_bytes(0);
        let taken = self.rest().get(..bytes).unwrap_or_default();
        if bytes > 0 {
            let characters = if taken == "\r\n" { 2 } else { 1 };
            self.mark = Mark {
                line: self.mark.line + 1,
                column: 0,
                index: self.mark.index + characters,
                offset: self.mark.offset + bytes,
            };
        }
        // The separators of lines and paragraphs are kept as they are.
        if bytes < 3 && bytes > 0 { "\n" } else { taken }
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank() {
            self.skip_bytes(1);
        }
    }

    pub(super) fn position_of(&self, mark: Mark) -> Position {
        self.origin.offset(mark.line, mark.column)
    }

    /// An error at a place; if the text was cut off here, the reason for that instead.
    pub(super) fn error_at(&self, mark: Mark, message: impl Into<String>) -> Error {
        match self.cut_off() {
            Some(error) => error,
            None => Error::at(self.position_of(mark), message),
        }
    }

    /// An error at the next character.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(self.mark, message)
    }

    /// What is wrong after the text, if it has been read up to its end.
    pub(super) fn cut_off(&self) -> Option<Error> {
        let reason = self.broken.as_ref().filter(|_| self.is_at_end())?;
        Some(Error::at(self.position_of(self.mark), reason))
    }

    fn break_bytes(&self, ahead: usize) -> usize {
        break_bytes(self.text.as_bytes().get(self.mark.offset + ahead..).unwrap_or_default())
    }
}

/// How many bytes the line break has that the bytes begin with.
fn break_bytes(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
        _ => 0,
    }
}

/// The first character that YAML 1.1 does not allow in a text, and its offset.
fn first_not_allowed(text: &str) -> Option<(usize, char)> {
    let is_allowed = |character: char| {
        matches!(character,
            '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
    };
    // Nearly all texts are plain ASCII; that is found out without decoding them.
    if text.bytes().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')) {
        return None;
    }
    text.char_indices().find(|(_, character)| !is_allowed(*character))
}
