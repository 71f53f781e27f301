//! Scans a string from its start.

/// Effect of a backslash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backslash {
    /// It escapes the next character; at the end of the string it is dropped.
    Escapes,
    /// It is an ordinary character.
    Plain,
}

/// The rest of a string.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The unread rest.
    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Reads up to one of these characters. Returns the unescaped string before it, and the character, or `None` at the end.
    pub(crate) fn until(&mut self, stops: &[char], backslash: Backslash) -> (String, Option<char>) {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        let stop = loop {
            match chars.next() {
                None => break None,
                Some(char) if stops.contains(&char) => break Some(char),
                Some('\\') if backslash == Backslash::Escapes => text.extend(chars.next()),
                Some(char) => text.push(char),
            }
        };
        self.rest = chars.as_str();
        (text, stop)
    }

    /// Reads this character if it is next.
    pub(crate) fn take(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads a number of bytes, which must end at a character boundary.
    pub(crate) fn take_bytes(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Reads white space.
    pub(crate) fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}
