//! The syntax of JSON, with the errors of Go's `encoding/json`.

use crate::strconv::quote_char;

/// Levels of lists and objects that Go reads.
const DEPTH_MAX: usize = 10_000;

/// Message of `json.Decoder` for input that ends within a value.
const EOF: &str = "unexpected EOF";

/// Checks that the input is one value, as `json.Unmarshal` does.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let ended = || Err("unexpected end of JSON input".to_owned());
    let mut scanner = Scanner { bytes, at: 0 };
    match scanner.value() {
        Err(message) if message == EOF => return ended(),
        result => result?,
    }
    scanner.skip_blanks();
    scanner.next().map_or(Ok(()), |byte| invalid(byte, "after top-level value"))
}

/// Returns the first value of the input, as `json.Decoder` does; none if there is only white space.
pub fn first_value(bytes: &[u8]) -> Result<Option<&[u8]>, String> {
    let mut scanner = Scanner { bytes, at: 0 };
    scanner.skip_blanks();
    let start = scanner.at;
    if start == bytes.len() {
        return Ok(None);
    }
    scanner.value()?;
    Ok(bytes.get(start..scanner.at))
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    /// Scans a value. Nesting does not take stack.
    fn value(&mut self) -> Result<(), String> {
        // The closing brackets that are expected.
        let mut open = Vec::new();
        loop {
            self.skip_blanks();
            let Some(first) = self.peek() else { return end() };
            self.at += 1;
            match first {
                b'{' | b'[' => {
                    let close = if first == b'{' { b'}' } else { b']' };
                    open.push(close);
                    if open.len() > DEPTH_MAX {
                        return invalid(first, "exceeded max depth");
                    }
                    self.skip_blanks();
                    if self.peek() != Some(close) {
                        if close == b'}' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number(first)?,
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                other => return invalid(other, "looking for beginning of value"),
            }
            // A value ends here, and with it maybe those around it.
            while let Some(&close) = open.last() {
                self.skip_blanks();
                let Some(next) = self.peek() else { return end() };
                self.at += 1;
                match next {
                    b',' if close == b'}' => {
                        self.key()?;
                        break;
                    }
                    b',' => break,
                    next if next == close => {
                        open.pop();
                    }
                    next if close == b'}' => return invalid(next, "after object key:value pair"),
                    next => return invalid(next, "after array element"),
                }
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn key(&mut self) -> Result<(), String> {
        self.skip_blanks();
        self.expect(|byte| byte == b'"', "looking for beginning of object key string")?;
        self.string()?;
        self.skip_blanks();
        self.expect(|byte| byte == b':', "after object key")
    }

    /// Scans the rest of a string.
    fn string(&mut self) -> Result<(), String> {
        loop {
            let Some(byte) = self.next() else { return end() };
            match byte {
                b'"' => return Ok(()),
                b'\\' => {
                    let is_unicode = self.peek() == Some(b'u');
                    self.expect(|byte| b"bfnrt\\/\"u".contains(&byte), "in string escape code")?;
                    for _ in 0..if is_unicode { 4 } else { 0 } {
                        self.expect(|byte| byte.is_ascii_hexdigit(), "in \\u hexadecimal character escape")?;
                    }
                }
                0..0x20 => return invalid(byte, "in string literal"),
                _ => {}
            }
        }
    }

    /// Scans the rest of a number.
    fn number(&mut self, first: u8) -> Result<(), String> {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        let mut lead = first;
        if first == b'-' {
            lead = self.peek().unwrap_or_default();
            self.expect(is_digit, "in numeric literal")?;
        }
        if lead != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.expect(is_digit, "after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.expect(is_digit, "in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    /// Scans the rest of a word.
    fn word(&mut self, word: &str) -> Result<(), String> {
        for expected in word.bytes().skip(1) {
            let context = format!("in literal {word} (expecting {})", quote_char(char::from(expected)));
            self.expect(|byte| byte == expected, &context)?;
        }
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn expect(&mut self, is_expected: impl Fn(u8) -> bool, context: &str) -> Result<(), String> {
        match self.next() {
            None => end(),
            Some(byte) if is_expected(byte) => Ok(()),
            Some(byte) => invalid(byte, context),
        }
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }
}

fn end<T>() -> Result<T, String> {
    Err(EOF.to_owned())
}

fn invalid<T>(byte: u8, context: &str) -> Result<T, String> {
    Err(format!("invalid character {} {context}", quote_char(char::from(byte))))
}

#[cfg(test)]
mod tests;
