//! Anchors, tags and directives.

use super::{Scanner, TokenKind};
use crate::Error;
use crate::reader::cursor::Mark;
use crate::text::go_lossy;

impl Scanner<'_> {
    /// Reads the name after `*` or `&`.
    pub(super) fn scan_anchor(&mut self) -> Result<String, Error> {
        self.cursor.skip_bytes(1);
        let mut name = String::new();
        self.cursor.read_while(&mut name, is_word_byte);
        let is_terminated = self.cursor.is_space_at(0)
            || matches!(self.cursor.byte(), Some(b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'));
        if name.is_empty() || !is_terminated {
            return Err(self.cursor.error("the name of an anchor is made of letters, digits, `-` and `_`"));
        }
        Ok(name)
    }

    pub(super) fn scan_tag(&mut self) -> Result<TokenKind, Error> {
        let start = self.cursor.mark();
        let (handle, suffix) = if self.cursor.byte_at(1) == Some(b'<') {
            self.cursor.skip_bytes(2);
            let uri = self.scan_tag_uri(String::new(), start)?;
            if !self.cursor.is(b'>') {
                return Err(self.cursor.error("expected `>` at the end of the tag"));
            }
            self.cursor.skip_bytes(1);
            (String::new(), uri)
        } else {
            let handle = self.scan_tag_handle()?;
            if handle.len() > 1 && handle.ends_with('!') {
                let suffix = self.scan_tag_uri(String::new(), start)?;
                (handle, suffix)
            } else {
                // The text is not a handle but the beginning of the name.
                let begun = handle.get(1..).unwrap_or_default().to_owned();
                let suffix = self.scan_tag_name(begun)?;
                if suffix.is_empty() { (String::new(), "!".to_owned()) } else { ("!".to_owned(), suffix) }
            }
        };
        if !self.cursor.is_space_at(0) {
            return Err(self.cursor.error("expected white space after the tag"));
        }
        Ok(TokenKind::Tag { handle, suffix })
    }

    /// Reads `%YAML …` or `%TAG …` and the line break after it.
    pub(super) fn scan_directive(&mut self) -> Result<TokenKind, Error> {
        let start = self.cursor.mark();
        self.cursor.skip_bytes(1);
        let mut name = String::new();
        self.cursor.read_while(&mut name, is_word_byte);
        if !self.cursor.is_space_at(0) {
            return Err(self.cursor.error("the name of a directive is made of letters"));
        }
        self.cursor.skip_blanks();
        let kind = match name.as_str() {
            "YAML" => self.scan_version()?,
            "TAG" => self.scan_tag_directive(start)?,
            _ => return Err(self.cursor.error_at(start, format!("unknown directive `%{name}`"))),
        };
        self.cursor.skip_blanks();
        if self.cursor.is(b'#') {
            self.cursor.skip_to_break();
        }
        if !self.cursor.is_break_or_end() {
            return Err(self.cursor.error("expected the end of the line after a directive"));
        }
        self.cursor.skip_break();
        Ok(kind)
    }

    fn scan_version(&mut self) -> Result<TokenKind, Error> {
        let major = self.scan_version_number()?;
        if !self.cursor.is(b'.') {
            return Err(self.cursor.error("expected a version as `1.1`"));
        }
        self.cursor.skip_bytes(1);
        self.scan_version_number()?;
        Ok(TokenKind::VersionDirective { major })
    }

    fn scan_version_number(&mut self) -> Result<u32, Error> {
        let mut digits = String::new();
        self.cursor.read_while(&mut digits, |byte| byte.is_ascii_digit());
        digits.parse().map_err(|_| self.cursor.error("expected a version as `1.1`"))
    }

    fn scan_tag_directive(&mut self, start: Mark) -> Result<TokenKind, Error> {
        let handle = self.scan_tag_handle()?;
        if handle != "!" && !(handle.len() > 1 && handle.ends_with('!')) {
            return Err(self.cursor.error("expected `!` at the end of the tag's handle"));
        }
        if !self.cursor.is_blank() {
            return Err(self.cursor.error("expected white space after the tag's handle"));
        }
        self.cursor.skip_blanks();
        let prefix = self.scan_tag_uri(String::new(), start)?;
        if !self.cursor.is_space_at(0) {
            return Err(self.cursor.error("expected white space after the tag's prefix"));
        }
        Ok(TokenKind::TagDirective { handle, prefix })
    }

    /// Reads `!`, `!!`, `!name!`, or a prefix of them.
    fn scan_tag_handle(&mut self) -> Result<String, Error> {
        if !self.cursor.is(b'!') {
            return Err(self.cursor.error("expected `!`"));
        }
        let mut handle = "!".to_owned();
        self.cursor.skip_bytes(1);
        self.cursor.read_while(&mut handle, is_word_byte);
        if self.cursor.is(b'!') {
            self.cursor.skip_bytes(1);
            handle.push('!');
        }
        Ok(handle)
    }

    fn scan_tag_uri(&mut self, begun: String, start: Mark) -> Result<String, Error> {
        let uri = self.scan_tag_name(begun)?;
        if uri.is_empty() {
            return Err(self.cursor.error_at(start, "expected the name of a tag"));
        }
        Ok(uri)
    }

    fn scan_tag_name(&mut self, mut name: String) -> Result<String, Error> {
        loop {
            self.cursor.read_while(&mut name, |byte| byte != b'%' && is_uri_byte(byte));
            if !self.cursor.is(b'%') {
                return Ok(name);
            }
            let mut escaped = Vec::new();
            while self.cursor.is(b'%') {
                let digit = |ahead| char::from(self.cursor.byte_at(ahead).unwrap_or_default()).to_digit(16);
                let (Some(high), Some(low)) = (digit(1), digit(2)) else {
                    return Err(self.cursor.error("`%` in a tag needs two hexadecimal digits"));
                };
                escaped.extend(u8::try_from(high << 4 | low));
                self.cursor.skip_bytes(3);
            }
            name.push_str(&go_lossy(&escaped));
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_uri_byte(byte: u8) -> bool {
    const OTHERS: &[u8] = b";/?:@&=+$,.!~*'()[]%";
    is_word_byte(byte) || OTHERS.contains(&byte)
}
