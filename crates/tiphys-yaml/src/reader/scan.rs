//! Tokens of YAML 1.1: indentation and indicators, without structure.
//!
//! The rules and their corner cases are those of libyaml as translated in go-yaml v2. A simple key is recognized only at the `:` after it,
//! so possible starts of keys are recorded, for one line and 1,024 characters.

mod scalars;
mod tags;

use std::collections::VecDeque;

use super::cursor::{Cursor, Mark};
use crate::{Error, Position};

/// The maximum length of a key without `?`, in characters.
const KEY_CHARS_MAX: usize = 1024;

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    VersionDirective { major: u32 },
    TagDirective { handle: String, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag { handle: String, suffix: String },
    Scalar { text: String, style: ScalarStyle },
    StreamEnd,
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarStyle {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// After `|` or `>`.
    Block,
}

/// A token with its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: Mark,
    /// Offset of its end. A block scalar ends after the line break of its last line, if present.
    pub(super) end: usize,
}

/// A possible start of a simple key.
#[derive(Clone, Copy)]
struct KeyStart {
    possible: bool,
    /// Whether only a key of the surrounding object is valid here.
    required: bool,
    token_number: usize,
    mark: Mark,
}

/// Converts a text to tokens.
pub(super) struct Scanner<'a> {
    cursor: Cursor<'a>,
    tokens: VecDeque<Token>,
    /// Number of consumed tokens.
    taken: usize,
    stream_ended: bool,
    flow_level: usize,
    /// Column of the current block collection; -1 outside of all.
    indent: isize,
    indents: Vec<isize>,
    key_may_begin: bool,
    /// One for each flow level, with ascending token numbers.
    key_starts: Vec<KeyStart>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        let none = KeyStart { possible: false, required: false, token_number: 0, mark: Mark::default() };
        Self {
            cursor,
            tokens: VecDeque::new(),
            taken: 0,
            stream_ended: false,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            key_may_begin: true,
            key_starts: vec![none],
        }
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&mut self) -> Result<&Token, Error> {
        while self.needs_more()? {
            self.fetch()?;
        }
        // After the end of the stream, further calls return the end again.
        if self.tokens.is_empty() {
            self.push_empty(TokenKind::StreamEnd);
        }
        Ok(&self.tokens[0])
    }

    /// Consumes the peeked token.
    pub(super) fn take(&mut self) -> Option<Token> {
        let token = self.tokens.pop_front();
        self.taken += usize::from(token.is_some());
        token
    }

    pub(super) fn position_of(&self, mark: Mark) -> Position {
        self.cursor.position_of(mark)
    }

    /// Returns whether a token may still be inserted before the first one: the start of a key or of an object.
    fn needs_more(&mut self) -> Result<bool, Error> {
        if self.stream_ended {
            return Ok(false);
        }
        if self.tokens.is_empty() {
            return Ok(true);
        }
        match self.key_starts.binary_search_by_key(&self.taken, |key| key.token_number) {
            Ok(level) => self.is_key_possible(level),
            Err(_) => Ok(false),
        }
    }

    fn fetch(&mut self) -> Result<(), Error> {
        self.skip_to_token();
        self.end_blocks(self.cursor.column().cast_signed());
        let start = self.cursor.mark();
        let Some(byte) = self.cursor.byte() else { return self.fetch_stream_end() };
        if start.column == 0 && byte == b'%' {
            return self.fetch_directive();
        }
        if self.cursor.is_marker("---") {
            return self.fetch_marker(TokenKind::DocumentStart);
        }
        if self.cursor.is_marker("...") {
            return self.fetch_marker(TokenKind::DocumentEnd);
        }
        let in_flow = self.flow_level > 0;
        let space_follows = self.cursor.is_space_at(1);
        match byte {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if space_follows => self.fetch_block_entry(),
            b'?' if in_flow || space_follows => self.fetch_key(),
            b':' if in_flow || space_follows => self.fetch_value(),
            b'*' => self.fetch_simple(|scanner| scanner.scan_anchor().map(TokenKind::Alias)),
            b'&' => self.fetch_simple(|scanner| scanner.scan_anchor().map(TokenKind::Anchor)),
            b'!' => self.fetch_simple(Self::scan_tag),
            b'|' if !in_flow => self.fetch_block_scalar(scalars::Block::Literal),
            b'>' if !in_flow => self.fetch_block_scalar(scalars::Block::Folded),
            b'\'' => self.fetch_simple(Self::scan_single_quoted),
            b'"' => self.fetch_simple(Self::scan_double_quoted),
            b'\t' => Err(self.cursor.error("a tab cannot be used for indentation")),
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => Err(self
                .cursor
                .error(format!("a plain string cannot begin with `{}`; quote it", char::from(byte)))),
            _ => self.fetch_plain(),
        }
    }

    /// Skips white space and comments.
    fn skip_to_token(&mut self) {
        loop {
            // Where a key may begin, a tab would be indentation.
            let tabs_are_blanks = self.flow_level > 0 || !self.key_may_begin;
            if tabs_are_blanks {
                self.cursor.skip_blanks();
            } else {
                self.cursor.skip_spaces();
            }
            if self.cursor.is(b'#') {
                self.cursor.skip_to_break();
            }
            if !self.cursor.is_break() {
                return;
            }
            self.cursor.skip_break();
            if self.flow_level == 0 {
                self.key_may_begin = true;
            }
        }
    }

    /// Adds a token that ends at the cursor.
    fn push(&mut self, kind: TokenKind, start: Mark) {
        self.tokens.push_back(Token { kind, start, end: self.cursor.mark().offset });
    }

    /// Adds an empty token.
    fn push_empty(&mut self, kind: TokenKind) {
        self.push(kind, self.cursor.mark());
    }

    /// Inserts a token before the one with this number.
    fn insert(&mut self, number: usize, kind: TokenKind, start: Mark) {
        let at = number.saturating_sub(self.taken).min(self.tokens.len());
        self.tokens.insert(at, Token { kind, start, end: start.offset });
    }

    fn next_number(&self) -> usize {
        self.taken + self.tokens.len()
    }

    fn is_key_possible(&mut self, level: usize) -> Result<bool, Error> {
        let now = self.cursor.mark();
        let Some(key) = self.key_starts.get_mut(level).filter(|key| key.possible) else { return Ok(false) };
        if key.mark.line == now.line && key.mark.index + KEY_CHARS_MAX >= now.index {
            return Ok(true);
        }
        let mark = key.mark;
        if key.required {
            return Err(self.missing_colon(mark));
        }
        key.possible = false;
        Ok(false)
    }

    fn missing_colon(&self, mark: Mark) -> Error {
        self.cursor.error_at(mark, "expected `:` after this key")
    }

    fn note_key_start(&mut self) -> Result<(), Error> {
        let mark = self.cursor.mark();
        let required = self.flow_level == 0 && self.indent == mark.column.cast_signed();
        if self.key_may_begin {
            self.drop_key_start()?;
            let token_number = self.next_number();
            if let Some(key) = self.key_starts.last_mut() {
                *key = KeyStart { possible: true, required, token_number, mark };
            }
        }
        Ok(())
    }

    fn drop_key_start(&mut self) -> Result<(), Error> {
        match self.key_starts.last_mut() {
            Some(KeyStart { possible: true, required: true, mark, .. }) => {
                let mark = *mark;
                Err(self.missing_colon(mark))
            }
            Some(key) => {
                key.possible = false;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Begins a block collection if the column is deeper than the current one.
    fn begin_block(&mut self, column: usize, number: usize, kind: TokenKind, mark: Mark) {
        if self.flow_level == 0 && self.indent < column.cast_signed() {
            self.indents.push(self.indent);
            self.indent = column.cast_signed();
            self.insert(number, kind, mark);
        }
    }

    /// Ends the block collections that are deeper than the column.
    fn end_blocks(&mut self, column: isize) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push_empty(TokenKind::BlockEnd);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn fetch_stream_end(&mut self) -> Result<(), Error> {
        if let Some(error) = self.cursor.cut_off() {
            return Err(error);
        }
        self.end_blocks(-1);
        self.drop_key_start()?;
        self.key_may_begin = false;
        self.push_empty(TokenKind::StreamEnd);
        self.stream_ended = true;
        Ok(())
    }

    fn fetch_directive(&mut self) -> Result<(), Error> {
        self.end_blocks(-1);
        self.drop_key_start()?;
        self.key_may_begin = false;
        let start = self.cursor.mark();
        let kind = self.scan_directive()?;
        self.push(kind, start);
        Ok(())
    }

    fn fetch_marker(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.end_blocks(-1);
        self.drop_key_start()?;
        self.key_may_begin = false;
        let start = self.cursor.mark();
        self.cursor.skip_bytes(3);
        self.push(kind, start);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.note_key_start()?;
        self.push_indicator(kind);
        let mark = self.cursor.mark();
        let token_number = self.next_number();
        self.key_starts.push(KeyStart { possible: false, required: false, token_number, mark });
        self.flow_level += 1;
        self.key_may_begin = true;
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.drop_key_start()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            self.key_starts.pop();
        }
        self.key_may_begin = false;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<(), Error> {
        self.drop_key_start()?;
        self.key_may_begin = true;
        self.push_indicator(TokenKind::FlowEntry);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.key_may_begin {
                return Err(self.cursor.error("a list item is not allowed here"));
            }
            self.begin_block_here(TokenKind::BlockSequenceStart);
        }
        self.drop_key_start()?;
        self.key_may_begin = true;
        self.push_indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.key_may_begin {
                return Err(self.cursor.error("a key is not allowed here"));
            }
            self.begin_block_here(TokenKind::BlockMappingStart);
        }
        self.drop_key_start()?;
        self.key_may_begin = self.flow_level == 0;
        self.push_indicator(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Error> {
        let level = self.key_starts.len().saturating_sub(1);
        if self.is_key_possible(level)?
            && let Some(key) = self.key_starts.get_mut(level)
        {
            key.possible = false;
            let KeyStart { token_number, mark, .. } = *key;
            self.insert(token_number, TokenKind::Key, mark);
            self.begin_block(mark.column, token_number, TokenKind::BlockMappingStart, mark);
            self.key_may_begin = false;
        } else {
            if self.flow_level == 0 {
                if !self.key_may_begin {
                    return Err(self
                        .cursor
                        .error("`: ` is not allowed here; quote the text that it is part of"));
                }
                self.begin_block_here(TokenKind::BlockMappingStart);
            }
            self.key_may_begin = self.flow_level == 0;
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }

    fn fetch_block_scalar(&mut self, block: scalars::Block) -> Result<(), Error> {
        self.drop_key_start()?;
        self.key_may_begin = true;
        let start = self.cursor.mark();
        let (text, end) = self.scan_block(block)?;
        self.tokens.push_back(Token {
            kind: TokenKind::Scalar { text, style: ScalarStyle::Block },
            start,
            end,
        });
        Ok(())
    }

    /// Fetches a token that can begin a key.
    fn fetch_simple(&mut self, scan: impl Fn(&mut Self) -> Result<TokenKind, Error>) -> Result<(), Error> {
        self.note_key_start()?;
        self.key_may_begin = false;
        let start = self.cursor.mark();
        let kind = scan(self)?;
        self.push(kind, start);
        Ok(())
    }

    fn fetch_plain(&mut self) -> Result<(), Error> {
        self.note_key_start()?;
        self.key_may_begin = false;
        let start = self.cursor.mark();
        let (text, end) = self.scan_plain()?;
        self.tokens.push_back(Token {
            kind: TokenKind::Scalar { text, style: ScalarStyle::Plain },
            start,
            end,
        });
        Ok(())
    }

    fn push_indicator(&mut self, kind: TokenKind) {
        let start = self.cursor.mark();
        self.cursor.skip_bytes(1);
        self.push(kind, start);
    }

    fn begin_block_here(&mut self, kind: TokenKind) {
        let mark = self.cursor.mark();
        self.begin_block(mark.column, self.next_number(), kind, mark);
    }
}
