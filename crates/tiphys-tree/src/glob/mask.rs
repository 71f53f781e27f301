//! How go-zglob evaluates a pattern: where the walk begins, and the regular expression that paths must match.
//!
//! The expression is the one that go-zglob writes, because it copies classes unparsed, which may swallow what follows them.

use std::fmt::Write as _;

use tiphys_go::glob::chars;
use tiphys_go::path::{clean, directory, join};

/// A parsed pattern of `discover.find.glob`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// No segment contains `*` or `{`: a path that must exist.
    Literal,
    /// A pattern to search for.
    Search {
        /// Start of the walk: the segments before the first one with `*` or `{`.
        root: Vec<u8>,
        /// The directory of the part before the first special character, with a final slash.
        prefix: Vec<u8>,
        /// The beginning of every match. It ends in a slash, or is empty.
        literal: String,
        /// The expression for the rest in Go's syntax, anchored at both ends.
        regexp: String,
    },
}

impl Mask {
    /// Parses a clean absolute pattern.
    pub(super) fn new(pattern: &[u8], variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut root = None;
        let mut mask = Vec::new();
        for (position, segment) in pattern.split(|byte| *byte == b'/').enumerate() {
            if root.is_none() && segment.iter().any(|byte| b"*{".contains(byte)) {
                root = Some(if mask.is_empty() { b".".to_vec() } else { mask.clone() });
            }
            let value = variable_name(segment).map(|name| trimmed(&variable(name).unwrap_or_default()));
            mask = join(&mask, value.as_deref().unwrap_or(segment));
            if position == 0 && mask.is_empty() {
                mask.push(b'/');
            }
        }
        let Some(root) = root else { return Self::Literal };
        let mut writer = RegexpWriter { mask: chars(&clean(&mask)).collect(), ..RegexpWriter::default() };
        writer.write();
        let RegexpWriter { mut regexp, prefix, literal, .. } = writer;
        if regexp.ends_with('/') {
            regexp.push_str("[^/]*");
        }
        // Patterns in many directories have the same rest, which is compiled once.
        let rest = regexp.split_off(literal.in_regexp);
        let literal = prefix.chars().take(literal.in_prefix).collect();
        let mut prefix = directory(prefix.as_bytes());
        prefix.push(b'/');
        Self::Search { root: clean(&root), prefix, literal, regexp: format!("^{rest}$") }
    }
}

/// Returns the name in a segment `$NAME` of at least two letters; `$(NAME)` gives a name with its parentheses, as in go-zglob.
fn variable_name(segment: &[u8]) -> Option<&str> {
    let name = segment.strip_prefix(b"$")?;
    let inner = name.strip_prefix(b"(").map_or(Some(name), |inner| inner.strip_suffix(b")"))?;
    let (first, rest) = inner.split_first()?;
    let is_name = first.is_ascii_alphabetic()
        && !rest.is_empty()
        && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if is_name { std::str::from_utf8(name).ok() } else { None }
}

fn trimmed(value: &str) -> Vec<u8> {
    value.trim_matches(['(', ')']).trim_matches('"').as_bytes().to_vec()
}

/// Converts a pattern to a regular expression, character by character.
#[derive(Default)]
struct RegexpWriter {
    mask: Vec<char>,
    at: usize,
    regexp: String,
    /// The part before the first special character.
    prefix: String,
    /// Whether a special character was found.
    special: bool,
    /// The part that is written as it is, up to its last slash.
    literal: Literal,
    /// Whether a character was escaped, which an expression may read as another one.
    escaped: bool,
}

/// The length of a literal part, in bytes of the expression and in characters of the prefix.
#[derive(Clone, Copy, Default)]
struct Literal {
    in_regexp: usize,
    in_prefix: usize,
}

impl RegexpWriter {
    fn write(&mut self) {
        while let Some(&c) = self.mask.get(self.at) {
            // An escape needs a character after the escaped one; at the end the backslash is an ordinary character.
            let escape = c == '\\' && self.at + 2 < self.mask.len();
            match c {
                '\\' if escape => {
                    self.at += 1;
                    self.escaped = true;
                    let escaped = self.mask[self.at];
                    self.regexp.push_str(&one_of(escaped));
                    self.add_to_prefix(escaped);
                }
                '*' => self.star(),
                '[' => self.class(),
                '{' => self.alternatives(),
                '!' if self.mask.get(self.at + 1) == Some(&'(') => self.negation(),
                _ => self.literal(),
            }
            self.at += 1;
        }
    }

    fn star(&mut self) {
        self.special = true;
        if self.mask.get(self.at + 1..self.at + 3) == Some(&['*', '/']) {
            self.regexp.push_str("(.*/)?");
            self.at += 2;
        } else {
            self.regexp.push_str("[^/]*");
        }
    }

    /// Copies a class. An empty one is dropped; an unclosed one is copied completely and its characters are read again.
    fn class(&mut self) {
        self.special = true;
        let content: String = self.content_until(']').into_iter().collect();
        if !content.is_empty() {
            self.regexp.push('[');
            self.regexp.push_str(&content);
            self.regexp.push(']');
        }
    }

    /// `{a,b}`; only the comma is special in it. `{}` leaves a `}`, and a final `{` is a literal.
    fn alternatives(&mut self) {
        self.special = true;
        let content = self.content_until('}');
        if content.is_empty() {
            self.literal();
            return;
        }
        self.regexp.push('(');
        for c in content {
            match c {
                ',' => self.regexp.push('|'),
                c => self.regexp.push_str(&plain(c)),
            }
        }
        self.regexp.push(')');
    }

    /// `!(ab)`: for each character any run without it. `!()` leaves a `)`.
    fn negation(&mut self) {
        self.at += 1;
        let content = self.content_until(')');
        if content.is_empty() {
            self.literal();
            return;
        }
        for c in content {
            write!(self.regexp, "[^\\x{:02X}/]*", u32::from(c)).unwrap_or_default();
        }
    }

    fn literal(&mut self) {
        let c = self.mask[self.at];
        self.regexp.push_str(&plain(c));
        self.add_to_prefix(c);
    }

    fn add_to_prefix(&mut self, c: char) {
        if self.special {
            return;
        }
        self.prefix.push(c);
        if c == '/' && !self.escaped {
            self.literal = Literal { in_regexp: self.regexp.len(), in_prefix: self.prefix.chars().count() };
        }
    }

    /// Returns the characters after the current one up to the closing one, which becomes the current one. If it is missing, returns the
    /// rest, and the current one stays.
    fn content_until(&mut self, closing: char) -> Vec<char> {
        let behind = &self.mask[self.at + 1..];
        match behind.iter().position(|c| *c == closing) {
            Some(length) => {
                let content = behind[..length].to_vec();
                self.at += 1 + length;
                content
            }
            None => behind.to_vec(),
        }
    }
}

/// Escapes a literal character.
fn plain(c: char) -> String {
    if c == '/' || c.is_ascii_alphanumeric() || u32::from(c) > 255 { c.to_string() } else { one_of(c) }
}

/// A class of one character. Of more than two digits Go reads only the first two as a number.
fn one_of(c: char) -> String {
    format!("[\\x{:02X}]", u32::from(c))
}
