//! Strict JSON with positions. `serde_json` does not report positions of values, and rejects input that Go accepts (lone surrogates,
//! invalid UTF-8), so this is a separate parser.

use crate::scalar::Unquoted;
use crate::text::go_lossy;
use crate::{Data, Entry, Error, ErrorKind, Float, Key, Limits, Node, Position};

/// How numbers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Like Go's JSON parser: one outside the range of a float is an error.
    Json,
    /// The same, and `-0` is a float, as all numbers are in a variable of any type.
    Any,
    /// Like the YAML parser: one outside the range of a float is a string.
    Yaml,
}

/// Parses JSON values one after the other.
pub(crate) struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The last requested offset and its position. The next position is counted from there.
    known: (usize, Position),
    limits: Limits,
    /// The number of parsed values and keys, plus the document, as the YAML parser counts them.
    nodes: usize,
    numbers: Numbers,
    unquoted: Unquoted,
}

/// An unfinished list or object.
enum Open {
    Sequence(Position, Vec<Node>),
    Mapping(Position, Vec<Entry>, Key),
}

impl<'a> Parser<'a> {
    /// Returns a parser. `origin` is the position of the first byte.
    pub(crate) fn new(bytes: &'a [u8], origin: Position, limits: Limits, numbers: Numbers) -> Self {
        Self { bytes, at: 0, known: (0, origin), limits, nodes: 1, numbers, unquoted: Unquoted::Typed }
    }

    /// Returns the parser with this mode for numbers and booleans.
    pub(crate) fn with_unquoted(self, unquoted: Unquoted) -> Self {
        Self { unquoted, ..self }
    }

    /// Returns the number of parsed bytes.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Skips white space. Returns `false` at the end of the input.
    pub(crate) fn skip_blanks(&mut self) -> bool {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        self.peek().is_some()
    }

    /// Skips white space and requires the end of the input.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        if self.skip_blanks() { Err(self.unexpected("the end of the text")) } else { Ok(()) }
    }

    /// Parses a value. Nesting does not take stack.
    pub(crate) fn value(&mut self) -> Result<Node, Error> {
        self.nodes = 1;
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip_blanks();
            let position = self.position();
            self.count(position)?;
            let mut done = match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.enter(&open, position)?;
                    if self.next_is(b'}') {
                        Node { position, data: Data::Mapping(Vec::new()) }
                    } else {
                        let key = self.key()?;
                        open.push(Open::Mapping(position, Vec::new(), key));
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.enter(&open, position)?;
                    if self.next_is(b']') {
                        Node { position, data: Data::Sequence(Vec::new()) }
                    } else {
                        open.push(Open::Sequence(position, Vec::new()));
                        continue;
                    }
                }
                _ => Node { position, data: self.scalar(position)? },
            };
            // A finished value goes into the surrounding collection, which may be finished thereby.
            loop {
                match open.pop() {
                    None => return Ok(done),
                    Some(Open::Sequence(position, mut items)) => {
                        items.push(done);
                        if self.next_is(b',') {
                            open.push(Open::Sequence(position, items));
                            break;
                        }
                        if !self.next_is(b']') {
                            return Err(self.unexpected("`,` or `]` after a list item"));
                        }
                        done = Node { position, data: Data::Sequence(items) };
                    }
                    Some(Open::Mapping(position, mut entries, key)) => {
                        entries.push(Entry { key, value: done });
                        if self.next_is(b',') {
                            let key = self.key()?;
                            open.push(Open::Mapping(position, entries, key));
                            break;
                        }
                        if !self.next_is(b'}') {
                            return Err(self.unexpected("`,` or `}` after a value"));
                        }
                        done = Node { position, data: Data::Mapping(entries) };
                    }
                }
            }
        }
    }

    fn enter(&self, open: &[Open], position: Position) -> Result<(), Error> {
        if open.len() >= self.limits.depth_max {
            return Err(Error::too_deep(position, self.limits.depth_max));
        }
        Ok(())
    }

    fn count(&mut self, position: Position) -> Result<(), Error> {
        self.nodes += 1;
        if self.nodes > self.limits.nodes_max {
            let message = format!("the document has more than {} nodes", self.limits.nodes_max);
            return Err(Error::at(position, message));
        }
        Ok(())
    }

    fn key(&mut self) -> Result<Key, Error> {
        self.skip_blanks();
        let position = self.position();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        self.count(position)?;
        let text = self.string()?;
        if !self.next_is(b':') {
            return Err(self.unexpected("`:` after a key"));
        }
        Ok(Key { text, position })
    }

    fn scalar(&mut self, position: Position) -> Result<Data, Error> {
        match self.peek() {
            Some(b'"') => self.string().map(Data::String),
            Some(b'-' | b'0'..=b'9') => self.number(position),
            Some(b't') => self.word("true", Data::Bool(true)),
            Some(b'f') => self.word("false", Data::Bool(false)),
            Some(b'n') => self.word("null", Data::Null),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn word(&mut self, word: &str, data: Data) -> Result<Data, Error> {
        if self.rest().starts_with(word.as_bytes()) {
            self.at += word.len();
            match (self.unquoted, data) {
                (Unquoted::Texts, Data::Bool(_)) => Ok(Data::String(word.to_owned())),
                (_, data) => Ok(data),
            }
        } else {
            Err(self.unexpected("a value"))
        }
    }

    fn number(&mut self, position: Position) -> Result<Data, Error> {
        let start = self.at;
        self.next_is_now(b'-');
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected("a digit")),
        }
        let mut whole = true;
        if self.next_is_now(b'.') {
            whole = false;
            self.some_digits()?;
        }
        if self.next_is_now(b'e') || self.next_is_now(b'E') {
            whole = false;
            if !self.next_is_now(b'+') {
                self.next_is_now(b'-');
            }
            self.some_digits()?;
        }
        let text = go_lossy(self.bytes.get(start..self.at).unwrap_or_default());
        if self.unquoted == Unquoted::Texts {
            return Ok(Data::String(text.into_owned()));
        }
        if whole && !(text == "-0" && self.numbers == Numbers::Any) {
            if let Ok(value) = text.parse::<i64>() {
                return Ok(Data::Integer(value));
            }
            if let Ok(value) = text.parse::<u64>() {
                return Ok(Data::Unsigned(value));
            }
        }
        match (text.parse::<f64>(), self.numbers) {
            (Ok(value), _) if value.is_finite() => Ok(Data::Float(Float::written(value, &text))),
            (_, Numbers::Yaml) => Ok(Data::String(text.into_owned())),
            (_, Numbers::Json | Numbers::Any) => {
                let error = Error::at(position, format!("the number {text} is too large"));
                Err(Error { kind: ErrorKind::LargeNumber(text.into_owned()), ..error })
            }
        }
    }

    fn some_digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        self.digits();
        if self.at == start { Err(self.unexpected("a digit")) } else { Ok(()) }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// Parses a string; the next byte is its quote.
    fn string(&mut self) -> Result<String, Error> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain =
                rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
            let (raw, rest) = rest.split_at_checked(plain).unwrap_or_default();
            text.push_str(&go_lossy(raw));
            self.at += plain;
            match rest.first() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.error("a control character in a string must be escaped")),
                None => return Err(self.error("the string is not closed")),
            }
        }
    }

    /// Parses an escape; the next byte is its backslash.
    fn escape(&mut self) -> Result<char, Error> {
        let character = match self.rest().get(1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.error("unknown escape in a string")),
        };
        self.at += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, Error> {
        let Some(unit) = self.hex_unit() else {
            return Err(self.error("`\\u` needs four hexadecimal digits"));
        };
        self.at += 6;
        if let Some(character) = char::from_u32(unit) {
            return Ok(character);
        }
        // A surrogate: a pair is one character, a lone one is replaced.
        if (0xD800..0xDC00).contains(&unit)
            && let Some(low @ 0xDC00..0xE000) = self.hex_unit()
        {
            self.at += 6;
            let joined = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// Returns the value of `\uXXXX` at the current offset, if present.
    fn hex_unit(&self) -> Option<u32> {
        let digits = self.rest().strip_prefix(b"\\u")?.get(..4)?;
        digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next_is_now(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn next_is(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        self.next_is_now(byte)
    }

    /// Returns the position of the next byte. Lines end at `\n`; every character is one column.
    pub(crate) fn position(&mut self) -> Position {
        let (offset, mut position) = self.known;
        for byte in self.bytes.get(offset..self.at).unwrap_or_default() {
            match byte {
                b'\n' => position = Position { line: position.line + 1, column: 1 },
                // Continuation bytes of a character.
                0x80..=0xBF => {}
                _ => position.column += 1,
            }
        }
        self.known = (self.at, position);
        position
    }

    fn error(&mut self, message: &str) -> Error {
        Error::at(self.position(), message)
    }

    fn unexpected(&mut self, wanted: &str) -> Error {
        let found =
            match go_lossy(self.rest().get(..4.min(self.rest().len())).unwrap_or_default()).chars().next() {
                None => "the text ends".to_owned(),
                Some(character) if character.is_control() => format!("U+{:04X} found", u32::from(character)),
                Some(character) => format!("`{character}` found"),
            };
        self.error(&format!("expected {wanted}, {found}"))
    }
}
