//! Plain, quoted and block scalars.

use super::{ScalarStyle, Scanner, TokenKind};
use crate::Error;

/// The two kinds of block scalars.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Literal,
    Folded,
}

/// How the line breaks at the end of a block scalar are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

/// White space in a multi-line scalar, buffered until the next character is known.
#[derive(Default)]
struct Gap<'a> {
    blanks: &'a str,
    first_break: &'a str,
    more_breaks: String,
    has_break: bool,
}

impl Gap<'_> {
    /// Appends the folded white space and clears the buffer: blanks are unchanged, a single line break is a blank, and of several line
    /// breaks all but the first are kept.
    fn flush(&mut self, text: &mut String) {
        if !self.has_break {
            text.push_str(self.blanks);
        } else if self.first_break.starts_with('\n') {
            if self.more_breaks.is_empty() {
                text.push(' ');
            } else {
                text.push_str(&self.more_breaks);
            }
        } else {
            text.push_str(self.first_break);
            text.push_str(&self.more_breaks);
        }
        self.blanks = "";
        self.first_break = "";
        self.more_breaks.clear();
        self.has_break = false;
    }
}

impl<'a> Scanner<'a> {
    /// Returns the text and the offset of its end. White space after it is consumed too.
    pub(super) fn scan_plain(&mut self) -> Result<(String, usize), Error> {
        let start = self.cursor.mark();
        let mut end = start.offset;
        let deepest = self.indent + 1;
        let in_flow = self.flow_level > 0;
        let mut text = String::new();
        let mut gap = Gap::default();
        loop {
            if self.cursor.is_marker("---") || self.cursor.is_marker("...") || self.cursor.is(b'#') {
                break;
            }
            let mut ended = false;
            while !self.cursor.is_space_at(0) {
                ended = match self.cursor.byte() {
                    Some(b':') => self.cursor.is_space_at(1),
                    Some(b',' | b'[' | b']' | b'{' | b'}') => in_flow,
                    _ => false,
                };
                if ended {
                    break;
                }
                gap.flush(&mut text);
                if self.cursor.is(b':') {
                    text.push(':');
                    self.cursor.skip_bytes(1);
                }
                self.cursor.read_while(&mut text, |byte| match byte {
                    b' ' | b'\t' | b':' => false,
                    b',' | b'[' | b']' | b'{' | b'}' => !in_flow,
                    _ => true,
                });
                end = self.cursor.mark().offset;
            }
            if ended || self.cursor.is_at_end() {
                break;
            }
            self.read_gap(&mut gap, |scanner, gap| {
                if gap.has_break
                    && scanner.cursor.column().cast_signed() < deepest
                    && scanner.cursor.is(b'\t')
                {
                    return Err(scanner.cursor.error("a tab cannot be used for indentation"));
                }
                Ok(())
            })?;
            if !in_flow && self.cursor.column().cast_signed() < deepest {
                break;
            }
        }
        if gap.has_break {
            self.key_may_begin = true;
        }
        debug_assert!(self.cursor.mark() != start, "a plain scalar has one character at least");
        Ok((text, end))
    }

    pub(super) fn scan_single_quoted(&mut self) -> Result<TokenKind, Error> {
        let text = self.scan_quoted(b'\'', |scanner, text, _| {
            if scanner.cursor.is(b'\'') {
                // This quote is doubled, because a single one would end the scalar.
                text.push('\'');
                scanner.cursor.skip_bytes(2);
            }
            scanner.cursor.read_while(text, |byte| !matches!(byte, b' ' | b'\t' | b'\''));
            Ok(())
        })?;
        Ok(TokenKind::Scalar { text, style: ScalarStyle::SingleQuoted })
    }

    pub(super) fn scan_double_quoted(&mut self) -> Result<TokenKind, Error> {
        let text = self.scan_quoted(b'"', |scanner, text, gap| {
            if scanner.cursor.is(b'\\') {
                scanner.scan_escape(text, gap)?;
            }
            if !gap.has_break {
                scanner.cursor.read_while(text, |byte| !matches!(byte, b' ' | b'\t' | b'"' | b'\\'));
            }
            Ok(())
        })?;
        Ok(TokenKind::Scalar { text, style: ScalarStyle::DoubleQuoted })
    }

    /// Reads a quoted scalar. `read` reads a part of it, up to white space or the quote.
    fn scan_quoted(
        &mut self,
        quote: u8,
        read: impl Fn(&mut Self, &mut String, &mut Gap<'a>) -> Result<(), Error>,
    ) -> Result<String, Error> {
        let start = self.cursor.mark();
        self.cursor.skip_bytes(1);
        let mut text = String::new();
        loop {
            if self.cursor.is_marker("---") || self.cursor.is_marker("...") {
                return Err(self.cursor.error("a document ends within a quoted text"));
            }
            if self.cursor.is_at_end() {
                return Err(self.cursor.error_at(start, "the quoted text is not closed"));
            }
            let mut gap = Gap::default();
            while !self.cursor.is_space_at(0) && !gap.has_break && !self.is_end_quote(quote) {
                read(self, &mut text, &mut gap)?;
            }
            if self.is_end_quote(quote) && !gap.has_break {
                self.cursor.skip_bytes(1);
                return Ok(text);
            }
            self.read_gap(&mut gap, |_, _| Ok(()))?;
            gap.flush(&mut text);
        }
    }

    fn is_end_quote(&self, quote: u8) -> bool {
        self.cursor.is(quote) && (quote == b'"' || self.cursor.byte_at(1) != Some(quote))
    }

    /// Reads blanks and line breaks. Blanks at the beginning of a line are dropped.
    fn read_gap(
        &mut self,
        gap: &mut Gap<'a>,
        check: impl Fn(&Self, &Gap<'a>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            if !gap.has_break && self.cursor.is_blank() {
                gap.blanks = self.cursor.take_blanks();
            } else if self.cursor.is_blank() {
                self.cursor.skip_spaces();
                check(self, gap)?;
                self.cursor.skip_blanks();
            } else if self.cursor.is_break() {
                if gap.has_break {
                    self.cursor.read_break(&mut gap.more_breaks);
                } else {
                    gap.blanks = "";
                    gap.first_break = self.cursor.take_break();
                    gap.has_break = true;
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Reads an escape in a double-quoted scalar. The next character is its backslash.
    fn scan_escape(&mut self, text: &mut String, gap: &mut Gap<'a>) -> Result<(), Error> {
        let Some(escape) = self.cursor.byte_at(1) else {
            self.cursor.skip_bytes(1);
            return Ok(());
        };
        let character = match escape {
            b'0' => '\0',
            b'a' => '\u{7}',
            b'b' => '\u{8}',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\u{B}',
            b'f' => '\u{C}',
            b'r' => '\r',
            b'e' => '\u{1B}',
            b' ' | b'"' | b'\'' | b'/' | b'\\' => char::from(escape),
            b'N' => '\u{85}',
            b'_' => '\u{A0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => return self.scan_code(2, text),
            b'u' => return self.scan_code(4, text),
            b'U' => return self.scan_code(8, text),
            _ => {
                self.cursor.skip_bytes(1);
                if !self.cursor.is_break() {
                    return Err(self.cursor.error("unknown escape in a quoted text"));
                }
                // An escaped line break is dropped, with the blanks that follow it.
                self.cursor.skip_break();
                gap.has_break = true;
                return Ok(());
            }
        };
        text.push(character);
        self.cursor.skip_bytes(2);
        Ok(())
    }

    /// Reads the code after `\x`, `\u` or `\U`. As in JSON, two surrogates are one character.
    fn scan_code(&mut self, digits: usize, text: &mut String) -> Result<(), Error> {
        let start = self.cursor.mark();
        self.cursor.skip_bytes(2);
        let mut code = self.scan_hex(digits)?;
        if digits == 4 && (0xD800..0xDC00).contains(&code) && self.cursor.rest().starts_with("\\u") {
            self.cursor.skip_bytes(2);
            let low = self.scan_hex(4)?;
            if (0xDC00..0xE000).contains(&low) {
                code = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            }
        }
        match char::from_u32(code) {
            Some(character) => text.push(character),
            None => return Err(self.cursor.error_at(start, "the escape is not a valid character")),
        }
        Ok(())
    }

    fn scan_hex(&mut self, digits: usize) -> Result<u32, Error> {
        let mut code = 0_u32;
        for _ in 0..digits {
            let digit = self.cursor.byte().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.cursor.error(format!("the escape needs {digits} hexadecimal digits")));
            };
            code = code << 4 | digit;
            self.cursor.skip_bytes(1);
        }
        Ok(code)
    }

    /// Returns the text and the offset of its end. Empty lines after it are consumed too.
    pub(super) fn scan_block(&mut self, block: Block) -> Result<(String, usize), Error> {
        self.cursor.skip_bytes(1);
        let (chomping, increment) = self.scan_block_header()?;
        let mut end = self.cursor.mark().offset;
        let mut indent = increment.map(|increment| self.indent.max(0).cast_unsigned() + increment);
        let mut text = String::new();
        let mut first_break = String::new();
        let mut more_breaks = String::new();
        let mut after_blank = false;
        let column = self.scan_block_breaks(&mut indent, &mut more_breaks)?;
        while self.cursor.column() == column && !self.cursor.is_at_end() {
            let begins_with_blank = self.cursor.is_blank();
            let folds =
                block == Block::Folded && first_break.starts_with('\n') && !after_blank && !begins_with_blank;
            if !folds {
                text.push_str(&first_break);
            } else if more_breaks.is_empty() {
                text.push(' ');
            }
            first_break.clear();
            text.push_str(&more_breaks);
            more_breaks.clear();
            after_blank = begins_with_blank;
            self.cursor.read_while(&mut text, |_| true);
            self.cursor.read_break(&mut first_break);
            end = self.cursor.mark().offset;
            self.scan_block_breaks(&mut indent, &mut more_breaks)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(&first_break);
        }
        if chomping == Chomping::Keep {
            text.push_str(&more_breaks);
            // The end is the beginning of the next line, of which only blanks were read. At the end of the text, there may be none.
            end = end.max(self.cursor.mark().offset - self.cursor.column());
        }
        Ok((text, end))
    }

    /// Reads chomping and indentation indicators, in either order, and the line break.
    fn scan_block_header(&mut self) -> Result<(Chomping, Option<usize>), Error> {
        let mut chomping = None;
        let mut increment = None;
        loop {
            match self.cursor.byte() {
                Some(b'+') if chomping.is_none() => chomping = Some(Chomping::Keep),
                Some(b'-') if chomping.is_none() => chomping = Some(Chomping::Strip),
                Some(b'0') if increment.is_none() => {
                    return Err(self.cursor.error("the indentation of a block text is 1 at least"));
                }
                Some(digit @ b'1'..=b'9') if increment.is_none() => {
                    increment = Some(usize::from(digit - b'0'));
                }
                _ => break,
            }
            self.cursor.skip_bytes(1);
        }
        self.cursor.skip_blanks();
        if self.cursor.is(b'#') {
            self.cursor.skip_to_break();
        }
        if !self.cursor.is_break_or_end() {
            return Err(self.cursor.error("expected the end of the line at the beginning of a block text"));
        }
        self.cursor.skip_break();
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    /// Reads indentation and empty lines, and detects the indentation if it is unknown. Returns the indentation.
    fn scan_block_breaks(&mut self, indent: &mut Option<usize>, breaks: &mut String) -> Result<usize, Error> {
        let mut deepest = 0;
        loop {
            let is_deep_enough = |column| indent.is_some_and(|indent| column >= indent);
            while !is_deep_enough(self.cursor.column()) && self.cursor.is(b' ') {
                self.cursor.skip_bytes(1);
            }
            deepest = deepest.max(self.cursor.column());
            if !is_deep_enough(self.cursor.column()) && self.cursor.is(b'\t') {
                return Err(self.cursor.error("a tab cannot be used for the indentation of a block text"));
            }
            if !self.cursor.is_break() {
                break;
            }
            self.cursor.read_break(breaks);
        }
        let known = indent.unwrap_or_else(|| deepest.max((self.indent + 1).max(1).cast_unsigned()));
        *indent = Some(known);
        Ok(known)
    }
}
