//! What is left of a text that is read from its beginning.

/// What a backslash does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backslash {
    /// The sign behind it loses its meaning; at the very end it is dropped.
    Escapes,
    /// Nothing: it is a sign like others.
    Plain,
}

/// The rest of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// What has not been read.
    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Reads up to one of the signs; gives the text before it, without escapes, and the sign, unless the text ends first.
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

    /// Reads this sign if it is the next.
    pub(crate) fn take(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads so many bytes, which must end between two characters.
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
