//! Translates the part of Go's regular expressions that go-zglob writes for the `regex` crate.
//!
//! Outside classes only literals, `.`, groups, `|`, `*` and `?` occur. Classes contain what the user wrote, and there the languages differ:
//! in Go `[` in a class is an ordinary character, and there are no set operations.

use std::fmt::Write as _;

use regex::Regex;

use super::GlobError;

/// Compiles an expression in Go's syntax.
pub(super) fn compile(expression: &str) -> Result<Regex, GlobError> {
    let translated = Translator { whole: expression, rest: expression, out: String::new() }.translate()?;
    // The only remaining error: too large for the engine.
    Regex::new(&translated).map_err(|error| GlobError::Regexp { reason: error.to_string() })
}

struct Translator<'a> {
    whole: &'a str,
    rest: &'a str,
    out: String,
}

impl<'a> Translator<'a> {
    fn translate(mut self) -> Result<String, GlobError> {
        let mut open_groups = 0_usize;
        while let Some(c) = self.rest.chars().next() {
            match c {
                '[' => {
                    self.class()?;
                    continue;
                }
                '(' => {
                    open_groups += 1;
                    self.out.push_str("(?:");
                }
                ')' if open_groups == 0 => return Err(malformed("unexpected )", self.whole)),
                ')' => {
                    open_groups -= 1;
                    self.out.push(')');
                }
                '|' | '*' | '?' | '.' | '^' | '$' => self.out.push(c),
                literal => self.out.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4]))),
            }
            self.rest = &self.rest[c.len_utf8()..];
        }
        if open_groups > 0 { Err(malformed("missing closing )", self.whole)) } else { Ok(self.out) }
    }

    fn class(&mut self) -> Result<(), GlobError> {
        let class = self.rest;
        self.rest = &class[1..];
        let negated = self.skip("^");
        let mut items = String::new();
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if !self.named_class(&mut items)?
                && !self.unicode_class(&mut items)?
                && !self.perl_class(&mut items)
            {
                self.range(class, &mut items)?;
            }
        }
        self.skip("]");
        match (items.is_empty(), negated) {
            (true, false) => self.out.push_str("[a&&b]"),
            (true, true) => self.out.push_str("(?s:.)"),
            (false, false) => write!(self.out, "[{items}]").unwrap_or_default(),
            (false, true) => write!(self.out, "[^{items}]").unwrap_or_default(),
        }
        Ok(())
    }

    /// `[:alpha:]` and similar, equal in both languages.
    fn named_class(&mut self, items: &mut String) -> Result<bool, GlobError> {
        let Some(inner) = self.rest.strip_prefix("[:") else { return Ok(false) };
        let Some(length) = inner.find(":]") else { return Ok(false) };
        let (name, rest) = self.rest.split_at(length + 4);
        let plain_name = inner[..length].strip_prefix('^').unwrap_or(&inner[..length]);
        if !POSIX_CLASSES.contains(&plain_name) {
            return Err(malformed("invalid character class range", name));
        }
        items.push_str(name);
        self.rest = rest;
        Ok(true)
    }

    /// `\pL`, `\p{Greek}`, `\p{^Greek}` and their negations.
    fn unicode_class(&mut self, items: &mut String) -> Result<bool, GlobError> {
        let (mut negated, behind) = match self.rest.as_bytes() {
            [b'\\', b'p', ..] => (false, &self.rest[2..]),
            [b'\\', b'P', ..] => (true, &self.rest[2..]),
            _ => return Ok(false),
        };
        let (mut name, length) = if let Some(inner) = behind.strip_prefix('{') {
            let end = inner.find('}').ok_or_else(|| malformed("invalid character class range", self.rest))?;
            (&inner[..end], end + 4)
        } else {
            let end = behind.chars().next().map_or(0, char::len_utf8);
            (&behind[..end], end + 2)
        };
        let (sequence, rest) = self.rest.split_at(length);
        if let Some(inner) = name.strip_prefix('^') {
            negated = !negated;
            name = inner;
        }
        let item = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' '));
        if !is_name || Regex::new(&item).is_err() {
            return Err(malformed("invalid character class range", sequence));
        }
        items.push_str(&item);
        self.rest = rest;
        Ok(true)
    }

    /// `\d` and similar: ASCII in Go.
    fn perl_class(&mut self, items: &mut String) -> bool {
        let Some((name, item)) = PERL_CLASSES.into_iter().find(|(name, _)| self.rest.starts_with(name))
        else {
            return false;
        };
        items.push_str(item);
        self.rest = &self.rest[name.len()..];
        true
    }

    /// A character or a range.
    fn range(&mut self, class: &'a str, items: &mut String) -> Result<(), GlobError> {
        let start = self.rest;
        let low = self.class_char(class)?;
        let mut high = low;
        if let Some(behind) = self.rest.strip_prefix('-')
            && !behind.is_empty()
            && !behind.starts_with(']')
        {
            self.rest = behind;
            high = self.class_char(class)?;
        }
        if high < low {
            let range = &start[..start.len() - self.rest.len()];
            return Err(malformed("invalid character class range", range));
        }
        // Surrogates are not characters; Go allows them in a class, and no string contains them.
        for (low, high) in [(low, high.min(0xD7FF)), (low.max(0xE000), high)] {
            if low <= high {
                write!(items, "\\x{{{low:X}}}-\\x{{{high:X}}}").unwrap_or_default();
            }
        }
        Ok(())
    }

    fn class_char(&mut self, class: &'a str) -> Result<u32, GlobError> {
        let c = self.rest.chars().next().ok_or_else(|| malformed("missing closing ]", class))?;
        if c == '\\' {
            return self.escape();
        }
        self.rest = &self.rest[c.len_utf8()..];
        Ok(u32::from(c))
    }

    fn escape(&mut self) -> Result<u32, GlobError> {
        let start = self.rest;
        let mut behind = start[1..].chars();
        let Some(c) = behind.next() else {
            return Err(malformed("trailing backslash at end of expression", ""));
        };
        let value = match c {
            'a' => Some(0x07),
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            'x' => hexadecimal(&mut behind),
            // A single digit would be a back-reference, which Go does not have.
            '0' => Some(octal(0, &mut behind)),
            '1'..='7' if behind.as_str().starts_with(|next| matches!(next, '0'..='7')) => {
                Some(octal(u32::from(c) - u32::from('0'), &mut behind))
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
            _ => None,
        };
        self.rest = behind.as_str();
        value.ok_or_else(|| malformed("invalid escape sequence", &start[..start.len() - self.rest.len()]))
    }

    fn skip(&mut self, text: &str) -> bool {
        let behind = self.rest.strip_prefix(text);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }
}

/// At most two more octal digits.
fn octal(first: u32, behind: &mut std::str::Chars<'_>) -> u32 {
    let mut value = first;
    for _ in 0..2 {
        let Some(digit) = behind.clone().next().and_then(|c| c.to_digit(8)) else { break };
        behind.next();
        value = value * 8 + digit;
    }
    value
}

/// Two hexadecimal digits, or any number of them in braces.
fn hexadecimal(behind: &mut std::str::Chars<'_>) -> Option<u32> {
    let first = behind.next()?;
    if first != '{' {
        let second = behind.next()?;
        return Some(first.to_digit(16)? * 16 + second.to_digit(16)?);
    }
    let mut value = None;
    loop {
        let c = behind.next()?;
        if c == '}' {
            return value;
        }
        let next = value.unwrap_or(0) * 16 + c.to_digit(16)?;
        value = Some(next).filter(|value| *value <= u32::from(char::MAX));
        value?;
    }
}

fn malformed(what: &str, part: &str) -> GlobError {
    GlobError::Regexp { reason: format!("{what}: `{part}`") }
}

const POSIX_CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

const PERL_CLASSES: [(&str, &str); 6] = [
    (r"\d", "0-9"),
    (r"\D", "[^0-9]"),
    (r"\s", r"\t\n\x0C\r\x20"),
    (r"\S", r"[^\t\n\x0C\r\x20]"),
    (r"\w", "0-9A-Za-z_"),
    (r"\W", "[^0-9A-Za-z_]"),
];
