//! Tokens of a template, as `text/template/parse` scans them.

use crate::gotemplate::unicode::{decode, is_alphanumeric, is_print};
use crate::strconv::quote;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The value is the message.
    Error,
    Bool,
    Char,
    CharConstant,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelimiter,
    LeftParenthesis,
    Number,
    Pipe,
    RawString,
    RightDelimiter,
    RightParenthesis,
    Space,
    String,
    Text,
    Variable,
    Keyword(Keyword),
}

/// A keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Block,
    Break,
    Continue,
    Define,
    Dot,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

/// A token.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// The bytes from the beginning of the template.
    pub(crate) position: usize,
    /// The line, from 1.
    pub(crate) line: usize,
    pub(crate) value: Vec<u8>,
}

/// Bytes of a token that a message contains.
const SHOWN_CHARACTERS_MAX: usize = 10;

impl Token {
    /// Returns the token as messages contain it.
    pub(crate) fn shown(&self) -> String {
        match self.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => self.text(),
            Kind::Keyword(_) => format!("<{}>", self.text()),
            _ if self.value.len() > SHOWN_CHARACTERS_MAX => {
                let end = crate::gotemplate::unicode::characters(&self.value)
                    .nth(SHOWN_CHARACTERS_MAX)
                    .map_or(self.value.len(), |(position, ..)| position);
                format!("{}...", quote(&self.value[..end]))
            }
            _ => quote(&self.value),
        }
    }

    /// Returns the value as a string.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.value).into_owned()
    }
}

const LEFT: &[u8] = b"{{";
const RIGHT: &[u8] = b"}}";

/// Scans a template.
#[derive(Debug)]
pub(crate) struct Lexer<'a> {
    input: &'a [u8],
    position: usize,
    start: usize,
    line: usize,
    start_line: usize,
    is_in_action: bool,
    parentheses: usize,
    has_failed: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self {
            input,
            position: 0,
            start: 0,
            line: 1,
            start_line: 1,
            is_in_action: false,
            parentheses: 0,
            has_failed: false,
        }
    }

    /// Returns the next token. After an error or the end, it is the end.
    pub(crate) fn next_token(&mut self) -> Token {
        if self.has_failed {
            return Token { kind: Kind::Eof, position: 0, line: self.start_line, value: b"EOF".to_vec() };
        }
        if self.is_in_action { self.action() } else { self.text() }
    }

    fn rest(&self) -> &'a [u8] {
        &self.input[self.position..]
    }

    fn peek(&self) -> Option<char> {
        (!self.rest().is_empty()).then(|| decode(self.rest()).0)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.position += decode(self.rest()).1;
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    fn token(&mut self, kind: Kind) -> Token {
        let value = self.input[self.start..self.position].to_vec();
        let token = Token { kind, position: self.start, line: self.start_line, value };
        self.start = self.position;
        self.start_line = self.line;
        token
    }

    /// Skips to a position, counting lines.
    fn ignore_to(&mut self, position: usize) {
        self.line += line_breaks(&self.input[self.position..position]);
        self.position = position;
        self.start = position;
        self.start_line = self.line;
    }

    fn error(&mut self, message: impl Into<String>) -> Token {
        self.has_failed = true;
        Token {
            kind: Kind::Error,
            position: self.start,
            line: self.start_line,
            value: message.into().into_bytes(),
        }
    }

    fn text(&mut self) -> Token {
        loop {
            let Some(length) = find(self.rest(), LEFT) else {
                if self.rest().is_empty() {
                    let mut end = self.token(Kind::Eof);
                    end.value = b"EOF".to_vec();
                    return end;
                }
                self.line += line_breaks(self.rest());
                self.position = self.input.len();
                return self.token(Kind::Text);
            };
            let delimiter = self.position + length;
            let is_trimmed = has_left_marker(&self.input[delimiter + LEFT.len()..]);
            let mut end = delimiter;
            if is_trimmed {
                while end > self.position && is_space(self.input[end - 1]) {
                    end -= 1;
                }
            }
            if end > self.position {
                self.line += line_breaks(&self.input[self.position..end]);
                self.position = end;
                let text = self.token(Kind::Text);
                self.ignore_to(delimiter);
                return text;
            }
            self.ignore_to(delimiter);
            let after = delimiter + LEFT.len() + if is_trimmed { 2 } else { 0 };
            if !self.input[after..].starts_with(b"/*") {
                self.position += LEFT.len();
                let token = self.token(Kind::LeftDelimiter);
                self.ignore_to(after);
                self.is_in_action = true;
                self.parentheses = 0;
                return token;
            }
            if let Some(error) = self.skip_comment(after) {
                return error;
            }
        }
    }

    fn skip_comment(&mut self, start: usize) -> Option<Token> {
        self.ignore_to(start);
        let Some(length) = find(&self.input[start + 2..], b"*/") else {
            return Some(self.error("unclosed comment"));
        };
        let end = start + 2 + length + 2;
        let Some(is_trimmed) = at_right(&self.input[end..]) else {
            return Some(self.error("comment ends before closing delimiter"));
        };
        let mut end = end + RIGHT.len() + if is_trimmed { 2 } else { 0 };
        if is_trimmed {
            while self.input.get(end).is_some_and(|byte| is_space(*byte)) {
                end += 1;
            }
        }
        self.ignore_to(end);
        None
    }

    fn right(&mut self, is_trimmed: bool) -> Token {
        if is_trimmed {
            self.ignore_to(self.position + 2);
        }
        self.position += RIGHT.len();
        let token = self.token(Kind::RightDelimiter);
        if is_trimmed {
            let blanks = self.rest().iter().take_while(|byte| is_space(**byte)).count();
            self.ignore_to(self.position + blanks);
        }
        self.is_in_action = false;
        token
    }

    fn action(&mut self) -> Token {
        if let Some(is_trimmed) = at_right(self.rest()) {
            if self.parentheses > 0 {
                return self.error("unclosed left paren");
            }
            return self.right(is_trimmed);
        }
        let Some(c) = self.peek() else { return self.error("unclosed action") };
        if u8::try_from(c).is_ok_and(is_space) {
            return self.spaces();
        }
        let digit_follows = self.rest().get(1).is_some_and(u8::is_ascii_digit);
        if matches!(c, '+' | '-' | '0'..='9') || (c == '.' && (digit_follows || self.rest().len() == 1)) {
            return self.number();
        }
        if is_alphanumeric(c) {
            return self.identifier();
        }
        self.next();
        match c {
            '=' => self.token(Kind::Assign),
            ':' => {
                if self.next() != Some('=') {
                    return self.error("expected :=");
                }
                self.token(Kind::Declare)
            }
            '|' => self.token(Kind::Pipe),
            '"' => self.quoted('"', Kind::String, "unterminated quoted string"),
            '\'' => self.quoted('\'', Kind::CharConstant, "unterminated character constant"),
            '`' => self.raw(),
            '$' => self.field_or_variable(Kind::Variable),
            '.' => self.field_or_variable(Kind::Field),
            '(' => {
                self.parentheses += 1;
                self.token(Kind::LeftParenthesis)
            }
            ')' => {
                let Some(parentheses) = self.parentheses.checked_sub(1) else {
                    return self.error("unexpected right paren");
                };
                self.parentheses = parentheses;
                self.token(Kind::RightParenthesis)
            }
            c if c.is_ascii() && is_print(c) => self.token(Kind::Char),
            c => self.error(format!("unrecognized character in action: {}", code_point(c))),
        }
    }

    fn spaces(&mut self) -> Token {
        let count = self.rest().iter().take_while(|byte| is_space(**byte)).count();
        let last = self.position + count - 1;
        // The last blank may belong to a delimiter with a trim marker.
        let is_delimiter = at_right(&self.input[last..]) == Some(true);
        let taken = if is_delimiter { count - 1 } else { count };
        if taken == 0 {
            return self.right(true);
        }
        self.line += line_breaks(&self.rest()[..taken]);
        self.position += taken;
        self.token(Kind::Space)
    }

    fn is_at_terminator(&self) -> bool {
        match self.rest().first() {
            None => true,
            Some(byte) => is_space(*byte) || b".,|:)(".contains(byte) || self.rest().starts_with(RIGHT),
        }
    }

    fn bad_character(&mut self) -> Token {
        let c = self.peek().unwrap_or('\u{0}');
        self.error(format!("bad character {}", code_point(c)))
    }

    fn skip_name(&mut self) {
        while self.peek().is_some_and(is_alphanumeric) {
            self.next();
        }
    }

    fn identifier(&mut self) -> Token {
        self.skip_name();
        if !self.is_at_terminator() {
            return self.bad_character();
        }
        let kind = match &self.input[self.start..self.position] {
            b"true" | b"false" => Kind::Bool,
            b"block" => Kind::Keyword(Keyword::Block),
            b"break" => Kind::Keyword(Keyword::Break),
            b"continue" => Kind::Keyword(Keyword::Continue),
            b"define" => Kind::Keyword(Keyword::Define),
            b"else" => Kind::Keyword(Keyword::Else),
            b"end" => Kind::Keyword(Keyword::End),
            b"if" => Kind::Keyword(Keyword::If),
            b"nil" => Kind::Keyword(Keyword::Nil),
            b"range" => Kind::Keyword(Keyword::Range),
            b"template" => Kind::Keyword(Keyword::Template),
            b"with" => Kind::Keyword(Keyword::With),
            _ => Kind::Identifier,
        };
        self.token(kind)
    }

    fn field_or_variable(&mut self, kind: Kind) -> Token {
        if self.is_at_terminator() {
            let kind = if kind == Kind::Field { Kind::Keyword(Keyword::Dot) } else { kind };
            return self.token(kind);
        }
        self.skip_name();
        if !self.is_at_terminator() {
            return self.bad_character();
        }
        self.token(kind)
    }

    fn quoted(&mut self, end: char, kind: Kind, message: &str) -> Token {
        loop {
            let c = match self.next() {
                Some('\\') => match self.next() {
                    Some(c) if c != '\n' => continue,
                    _ => None,
                },
                c => c,
            };
            match c {
                None | Some('\n') => return self.error(message),
                Some(c) if c == end => return self.token(kind),
                Some(_) => {}
            }
        }
    }

    fn raw(&mut self) -> Token {
        loop {
            match self.next() {
                None => return self.error("unterminated raw quoted string"),
                Some('`') => return self.token(Kind::RawString),
                Some(_) => {}
            }
        }
    }

    fn number(&mut self) -> Token {
        let mut is_valid = self.scan_number();
        // Go reads a complex number here, which nothing of Argo CD takes.
        if is_valid && matches!(self.peek(), Some('+' | '-')) {
            self.scan_number();
            is_valid = false;
        }
        if !is_valid {
            let number = quote(&self.input[self.start..self.position]);
            return self.error(format!("bad number syntax: {number}"));
        }
        self.token(Kind::Number)
    }

    fn accept(&mut self, valid: &str) -> bool {
        let is_accepted = self.peek().is_some_and(|c| valid.contains(c));
        if is_accepted {
            self.next();
        }
        is_accepted
    }

    fn accept_all(&mut self, valid: &str) {
        while self.accept(valid) {}
    }

    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let mut digits = "0123456789_";
        if self.accept("0") {
            if self.accept("xX") {
                digits = "0123456789abcdefABCDEF_";
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_all(digits);
        if self.accept(".") {
            self.accept_all(digits);
        }
        let exponents = match digits.len() {
            11 => "eE",
            23 => "pP",
            _ => "",
        };
        if self.accept(exponents) {
            self.accept("+-");
            self.accept_all("0123456789_");
        }
        if self.peek().is_some_and(is_alphanumeric) {
            self.next();
            return false;
        }
        true
    }
}

/// Formats a character as `%#U`.
fn code_point(c: char) -> String {
    let number = u32::from(c);
    if is_print(c) { format!("U+{number:04X} '{c}'") } else { format!("U+{number:04X}") }
}

/// Returns whether a right delimiter begins here, and if so, whether it has a trim marker.
fn at_right(input: &[u8]) -> Option<bool> {
    if input.len() >= 2 && is_space(input[0]) && input[1] == b'-' && input[2..].starts_with(RIGHT) {
        return Some(true);
    }
    input.starts_with(RIGHT).then_some(false)
}

fn has_left_marker(input: &[u8]) -> bool {
    input.len() >= 2 && input[0] == b'-' && is_space(input[1])
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn line_breaks(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
