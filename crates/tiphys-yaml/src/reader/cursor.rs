//! A forward cursor over a text that tracks line and column.

use crate::{Error, Position};

/// A location in the text. All count from 0: line, column and index in characters, the offset in bytes.
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
    /// The error after the end of the text, if any.
    broken: Option<String>,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor. `origin` is the position at which the text begins. The text ends at the first character that YAML does not allow,
    /// else at its end with the error `broken`.
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

    /// Returns the remaining text.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.mark.offset..).unwrap_or_default()
    }

    /// Returns the next byte. Every character with a meaning in YAML is one byte, except three line breaks.
    pub(super) fn byte(&self) -> Option<u8> {
        self.byte_at(0)
    }

    /// Returns the byte `ahead` bytes after the next one.
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

    /// Returns whether the next character is a line break. The end of the text is not one.
    pub(super) fn is_break(&self) -> bool {
        self.break_bytes(0) > 0
    }

    pub(super) fn is_break_or_end(&self) -> bool {
        self.is_at_end() || self.is_break()
    }

    /// Returns whether white space, a line break or the end of the text is `ahead` bytes after the next byte.
    pub(super) fn is_space_at(&self, ahead: usize) -> bool {
        match self.byte_at(ahead) {
            None | Some(b' ' | b'\t') => true,
            Some(_) => self.break_bytes(ahead) > 0,
        }
    }

    /// Returns whether the line begins with this document marker, followed by white space.
    pub(super) fn is_marker(&self, marker: &str) -> bool {
        self.mark.column == 0 && self.rest().starts_with(marker) && self.is_space_at(marker.len())
    }

    /// Skips ASCII characters other than line breaks.
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.mark.offset += count;
        self.mark.column += count;
        self.mark.index += count;
    }

    /// Appends characters up to a line break or a byte for which `goes_on` is false. It must return the same for all bytes of a non-ASCII
    /// character.
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

    /// Skips a line break, if present, and appends its normalized form.
    pub(super) fn read_break(&mut self, text: &mut String) {
        text.push_str(self.take_break());
    }

    pub(super) fn skip_break(&mut self) {
        self.take_break();
    }

    /// Skips a line break, if present, and returns its normalized form.
    pub(super) fn take_break(&mut self) -> &'a str {
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
        // Line and paragraph separators are not normalized.
        if bytes < 3 && bytes > 0 { "\n" } else { taken }
    }

    pub(super) fn skip_spaces(&mut self) {
        let spaces = self.rest().bytes().take_while(|byte| *byte == b' ').count();
        self.skip_bytes(spaces);
    }

    pub(super) fn skip_blanks(&mut self) {
        self.take_blanks();
    }

    /// Skips spaces and tabs, and returns them.
    pub(super) fn take_blanks(&mut self) -> &'a str {
        let rest = self.rest();
        let count = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.skip_bytes(count);
        rest.get(..count).unwrap_or_default()
    }

    pub(super) fn position_of(&self, mark: Mark) -> Position {
        self.origin.offset(mark.line, mark.column)
    }

    /// Returns an error at a location. If the text was cut off here, the reason for that is returned instead.
    pub(super) fn error_at(&self, mark: Mark, message: impl Into<String>) -> Error {
        match self.cut_off() {
            Some(error) => error,
            None => Error::at(self.position_of(mark), message),
        }
    }

    /// Returns an error at the next character.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(self.mark, message)
    }

    /// Returns the error after the text, if its end has been reached.
    pub(super) fn cut_off(&self) -> Option<Error> {
        let reason = self.broken.as_ref().filter(|_| self.is_at_end())?;
        Some(Error::at(self.position_of(self.mark), reason))
    }

    fn break_bytes(&self, ahead: usize) -> usize {
        break_bytes(self.text.as_bytes().get(self.mark.offset + ahead..).unwrap_or_default())
    }
}

/// Returns the length in bytes of the line break at the beginning.
fn break_bytes(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
        _ => 0,
    }
}

/// Returns the first character that YAML 1.1 does not allow, with its offset.
fn first_not_allowed(text: &str) -> Option<(usize, char)> {
    let is_allowed = |character: char| {
        matches!(character,
            '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
    };
    // Nearly all texts are plain ASCII, which can be checked without decoding.
    if text.bytes().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')) {
        return None;
    }
    text.char_indices().find(|(_, character)| !is_allowed(*character))
}
