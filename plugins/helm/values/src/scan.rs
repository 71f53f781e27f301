//! Scans a string from its start.

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

    /// Reads up to one of these characters. Returns the unescaped string before it, and the character, or `None` at the end. A backslash
    /// at the end of the string is dropped.
    pub(crate) fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        let stop = loop {
            match chars.next() {
                None => break None,
                Some(char) if stops.contains(&char) => break Some(char),
                Some('\\') => text.extend(chars.next()),
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
}
