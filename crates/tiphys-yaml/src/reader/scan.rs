//! Tokens of YAML 1.1: what indentation and the indicators mean, before any structure.
//!
//! The rules, and the corner cases in them, are those of libyaml in the shape that go-yaml v2 gave them: whether something is
//! a key shows only at the `:` behind it, so the places where a key may have begun are remembered, for one line and 1,024
//! characters.

mod scalars;
mod tags;

use std::collections::VecDeque;

use super::cursor::{Cursor, Mark};
use crate::{Error, Position};

/// A key without `?` is at most this long, in characters.
const SIMPLE_KEY_CHARS_MAX: usize = 1024;

/// What a token is.
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
    Scalar { text: String, plain: bool },
    StreamEnd,
}

/// A token and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: Mark,
}

/// A place where a key may have begun.
#[derive(Clone, Copy)]
struct SimpleKey {
    possible: bool,
    /// It must be one: it stands where only a key of the object around it can.
    required: bool,
    token_number: usize,
    mark: Mark,
}

/// Turns a text into tokens.
pub(super) struct Scanner<'a> {
    cursor: Cursor<'a>,
    tokens: VecDeque<Token>,
    /// How many tokens have been taken.
    taken: usize,
    stream_ended: bool,
    flow_level: usize,
    /// Column of the block collection that is being read; -1 outside of all.
    indent: isize,
    indents: Vec<isize>,
    simple_key_allowed: bool,
    /// One for each flow level; their token numbers ascend.
    simple_keys: Vec<SimpleKey>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        let none = SimpleKey { possible: false, required: false, token_number: 0, mark: Mark::default() };
        Self {
            cursor,
            tokens: VecDeque::new(),
            taken: 0,
            stream_ended: false,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: true,
            simple_keys: vec![none],
        }
    }

    /// The next token, left where it is.
    pub(super) fn peek(&mut self) -> Result<&Token, Error> {
        while self.needs_more()? {
            self.fetch()?;
        }
        // After the end there are ends without end.
        if self.tokens.is_empty() {
            self.push(TokenKind::StreamEnd, self.cursor.mark());
        }
        Ok(&self.tokens[0])
    }

    /// Takes the token that was peeked at.
    pub(super) fn take(&mut self) -> Option<Token> {
        let token = self.tokens.pop_front();
        self.taken += usize::from(token.is_some());
        token
    }

    pub(super) fn position_of(&self, mark: Mark) -> Position {
        self.cursor.position_of(mark)
    }

    /// Whether the first token may still turn out to have something before it: the `?` of a key, the beginning of an object.
    fn needs_more(&mut self) -> Result<bool, Error> {
        if self.stream_ended {
            return Ok(false);
        }
        if self.tokens.is_empty() {
            return Ok(true);
        }
        match self.simple_keys.binary_search_by_key(&self.taken, |key| key.token_number) {
            Ok(level) => self.is_valid(level),
            Err(_) => Ok(false),
        }
    }

    fn fetch(&mut self) -> Result<(), Error> {
        self.skip_to_token();
        self.unroll_indent(self.cursor.column().cast_signed());
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
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => {
                Err(self.cursor.error(format!("a text cannot begin with `{}`; quote it", char::from(byte))))
            }
            _ => self.fetch_simple(Self::scan_plain),
        }
    }

    /// Skips white space and comments.
    fn skip_to_token(&mut self) {
        loop {
            // Where a key may begin a tab would be indentation.
            let tabs_are_blanks = self.flow_level > 0 || !self.simple_key_allowed;
            while self.cursor.is(b' ') || (tabs_are_blanks && self.cursor.is(b'\t')) {
                self.cursor.skip_bytes(1);
            }
            if self.cursor.is(b'#') {
                self.cursor.skip_to_break();
            }
            if !self.cursor.is_break() {
                return;
            }
            self.cursor.skip_break();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    fn push(&mut self, kind: TokenKind, start: Mark) {
        self.tokens.push_back(Token { kind, start });
    }

    /// Puts a token before the one with this number.
    fn insert(&mut self, number: usize, kind: TokenKind, start: Mark) {
        let at = number.saturating_sub(self.taken).min(self.tokens.len());
        self.tokens.insert(at, Token { kind, start });
    }

    fn next_number(&self) -> usize {
        self.taken + self.tokens.len()
    }

    fn is_valid(&mut self, level: usize) -> Result<bool, Error> {
        let now = self.cursor.mark();
        let Some(key) = self.simple_keys.get_mut(level).filter(|key| key.possible) else { return Ok(false) };
        if key.mark.line == now.line && key.mark.index + SIMPLE_KEY_CHARS_MAX >= now.index {
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

    fn save_simple_key(&mut self) -> Result<(), Error> {
        let mark = self.cursor.mark();
        let required = self.flow_level == 0 && self.indent == mark.column.cast_signed();
        if self.simple_key_allowed {
            self.remove_simple_key()?;
            let token_number = self.next_number();
            if let Some(key) = self.simple_keys.last_mut() {
                *key = SimpleKey { possible: true, required, token_number, mark };
            }
        }
        Ok(())
    }

    fn remove_simple_key(&mut self) -> Result<(), Error> {
        match self.simple_keys.last_mut() {
            Some(SimpleKey { possible: true, required: true, mark, .. }) => {
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

    /// Begins a block collection if the column is deeper than the one that is being read.
    fn roll_indent(&mut self, column: usize, number: usize, kind: TokenKind, mark: Mark) {
        if self.flow_level == 0 && self.indent < column.cast_signed() {
            self.indents.push(self.indent);
            self.indent = column.cast_signed();
            self.insert(number, kind, mark);
        }
    }

    /// Ends the block collections that are deeper than the column.
    fn unroll_indent(&mut self, column: isize) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.mark());
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn fetch_stream_end(&mut self) -> Result<(), Error> {
        if let Some(error) = self.cursor.cut_off() {
            return Err(error);
        }
        self.unroll_indent(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        self.push(TokenKind::StreamEnd, self.cursor.mark());
        self.stream_ended = true;
        Ok(())
    }

    fn fetch_directive(&mut self) -> Result<(), Error> {
        self.unroll_indent(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark();
        let kind = self.scan_directive()?;
        self.push(kind, start);
        Ok(())
    }

    fn fetch_marker(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.unroll_indent(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        self.push(kind, self.cursor.mark());
        self.cursor.skip_bytes(3);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.save_simple_key()?;
        self.push_indicator(kind);
        let mark = self.cursor.mark();
        let token_number = self.next_number();
        self.simple_keys.push(SimpleKey { possible: false, required: false, token_number, mark });
        self.flow_level += 1;
        self.simple_key_allowed = true;
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            self.simple_keys.pop();
        }
        self.simple_key_allowed = false;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<(), Error> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.cursor.error("a list item is not allowed here"));
            }
            self.roll_indent_here(TokenKind::BlockSequenceStart);
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.cursor.error("a key is not allowed here"));
            }
            self.roll_indent_here(TokenKind::BlockMappingStart);
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.push_indicator(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Error> {
        let level = self.simple_keys.len().saturating_sub(1);
        if self.is_valid(level)?
            && let Some(key) = self.simple_keys.get_mut(level)
        {
            key.possible = false;
            let SimpleKey { token_number, mark, .. } = *key;
            self.insert(token_number, TokenKind::Key, mark);
            self.roll_indent(mark.column, token_number, TokenKind::BlockMappingStart, mark);
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return Err(self
                        .cursor
                        .error("`: ` is not allowed here; quote the text that it is part of"));
                }
                self.roll_indent_here(TokenKind::BlockMappingStart);
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }

    fn fetch_block_scalar(&mut self, block: scalars::Block) -> Result<(), Error> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        let start = self.cursor.mark();
        let kind = self.scan_block(block)?;
        self.push(kind, start);
        Ok(())
    }

    /// Fetches a token that can begin a key.
    fn fetch_simple(&mut self, scan: impl Fn(&mut Self) -> Result<TokenKind, Error>) -> Result<(), Error> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark();
        let kind = scan(self)?;
        self.push(kind, start);
        Ok(())
    }

    fn push_indicator(&mut self, kind: TokenKind) {
        self.push(kind, self.cursor.mark());
        self.cursor.skip_bytes(1);
    }

    fn roll_indent_here(&mut self, kind: TokenKind) {
        let mark = self.cursor.mark();
        self.roll_indent(mark.column, self.next_number(), kind, mark);
    }
}
