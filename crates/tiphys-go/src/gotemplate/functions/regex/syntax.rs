//! Translation of Go's syntax to that of the crate `regex`, and the errors that only Go has.
//!
//! In Go, `\d`, `\s`, `\w` and `\b` are ASCII, `[` within a class and `{` without a valid count are ordinary characters, `\Q…\E` quotes,
//! and a repetition cannot be repeated.

/// The largest count of a repetition.
const COUNT_MAX: u32 = 1000;

/// Names of classes within a class.
const CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

/// Translates a pattern; the error is Go's message.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut translation =
        Translation { rest: pattern, out: String::new(), groups: 0, repeated: Repeated::Nothing };
    while let Some(c) = translation.rest.chars().next() {
        translation.element(c, pattern)?;
    }
    if translation.groups > 0 {
        return Err(format!("missing closing ): `{pattern}`"));
    }
    Ok(translation.out)
}

/// Syntax before a repetition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeated<'a> {
    Nothing,
    Element,
    /// A repetition, from its beginning.
    Repetition(&'a str),
}

struct Translation<'a> {
    rest: &'a str,
    out: String,
    groups: usize,
    repeated: Repeated<'a>,
}

impl<'a> Translation<'a> {
    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    fn element(&mut self, c: char, pattern: &str) -> Result<(), String> {
        let before = self.repeated;
        self.repeated = Repeated::Element;
        match c {
            '(' => {
                self.groups += 1;
                self.repeated = Repeated::Nothing;
                self.group()?;
            }
            ')' => {
                if self.groups == 0 {
                    return Err(format!("unexpected ): `{pattern}`"));
                }
                self.groups -= 1;
                self.copy(1);
            }
            '|' => {
                self.repeated = Repeated::Nothing;
                self.copy(1);
            }
            '*' | '+' | '?' => self.repetition(before, 1)?,
            '{' => {
                if let Some(length) = count_length(self.rest) {
                    check_count(&self.rest[..length])?;
                    return self.repetition(before, length);
                }
                self.out.push_str("\\{");
                self.rest = &self.rest[1..];
            }
            '[' => self.class()?,
            '\\' => self.escape()?,
            c => self.copy(c.len_utf8()),
        }
        Ok(())
    }

    fn repetition(&mut self, before: Repeated<'a>, length: usize) -> Result<(), String> {
        let start = self.rest;
        let is_lazy = start[length..].starts_with('?');
        let length = length + usize::from(is_lazy);
        match before {
            Repeated::Nothing => {
                return Err(format!("missing argument to repetition operator: `{}`", &start[..length]));
            }
            Repeated::Repetition(first) => {
                let end = first.len() - start.len() + length;
                return Err(format!("invalid nested repetition operator: `{}`", &first[..end]));
            }
            Repeated::Element => {}
        }
        self.copy(length);
        self.repeated = Repeated::Repetition(start);
        Ok(())
    }

    /// Translates the beginning of a group. Flags that Go does not have are errors.
    fn group(&mut self) -> Result<(), String> {
        let Some(after) = self.rest.strip_prefix("(?") else {
            self.copy(1);
            return Ok(());
        };
        if after.starts_with("P<") || after.starts_with('<') {
            if let Some(end) = after.find('>') {
                let name = &after[after.find('<').unwrap_or(0) + 1..end];
                let is_name =
                    !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                if is_name {
                    self.copy(2 + end + 1);
                    return Ok(());
                }
                return Err(format!("invalid named capture: `{}`", &self.rest[..=2 + end]));
            }
            return Err(format!("invalid named capture: `{}`", self.rest));
        }
        let length = after.find(|c: char| !"imsU-".contains(c)).unwrap_or(after.len());
        let end = after[length..].chars().next();
        if !matches!(end, Some(':' | ')')) {
            let shown = end.map_or(self.rest.len(), |c| 2 + length + c.len_utf8());
            return Err(format!("invalid or unsupported Perl syntax: `{}`", &self.rest[..shown]));
        }
        if end == Some(')') {
            self.groups -= 1;
        }
        if after.starts_with(':') || length > 0 {
            self.copy(2 + length + 1);
            return Ok(());
        }
        Err("missing argument to repetition operator: `?`".to_owned())
    }

    fn escape(&mut self) -> Result<(), String> {
        let mut characters = self.rest.chars();
        characters.next();
        let Some(c) = characters.next() else {
            return Err("trailing backslash at end of expression: ``".to_owned());
        };
        let ascii = match c {
            'd' => "[0-9]",
            'D' => "[^0-9]",
            's' => "[\\t\\n\\f\\r ]",
            'S' => "[^\\t\\n\\f\\r ]",
            'w' => "[0-9A-Za-z_]",
            'W' => "[^0-9A-Za-z_]",
            'b' => "(?-u:\\b)",
            'B' => "(?-u:\\B)",
            'Q' => {
                let quoted = &self.rest[2..];
                let (text, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                self.out.push_str(&regex::escape(text));
                self.rest = rest;
                return Ok(());
            }
            'A' | 'z' => {
                self.copy(2);
                return Ok(());
            }
            _ => return self.character_escape(c),
        };
        self.out.push_str(ascii);
        self.rest = &self.rest[2..];
        Ok(())
    }

    /// Translates an escape of one character or of a Unicode class.
    fn character_escape(&mut self, c: char) -> Result<(), String> {
        match c {
            'a' | 'f' | 'n' | 'r' | 't' | 'v' => self.copy(2),
            'x' => {
                let after = &self.rest[2..];
                let length = match after.strip_prefix('{') {
                    Some(digits) => digits.find('}').map_or(0, |end| end + 2),
                    None => 2,
                };
                let is_valid = after.get(..length).is_some_and(|digits| {
                    let digits = digits.trim_matches(['{', '}']);
                    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
                });
                if !is_valid {
                    return Err(format!("invalid escape sequence: `{}`", &self.rest[..2]));
                }
                self.copy(2 + length);
            }
            'p' | 'P' => {
                let after = &self.rest[2..];
                let length = match after.strip_prefix('{') {
                    Some(name) => name.find('}').map(|end| end + 2),
                    None => after.chars().next().map(char::len_utf8),
                };
                let (class, rest) = self.rest.split_at(length.map_or(self.rest.len(), |length| 2 + length));
                let translated = length.and_then(|_| unicode_class(c, class));
                self.out += &translated.ok_or_else(|| format!("invalid character class range: `{class}`"))?;
                self.rest = rest;
            }
            '0'..='7' => self.octal(c)?,
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => {
                if matches!(c, '<' | '>') {
                    self.out.push(c);
                    self.rest = &self.rest[2..];
                } else {
                    self.copy(2);
                }
            }
            c => return Err(format!("invalid escape sequence: `\\{c}`")),
        }
        Ok(())
    }

    /// Translates `\0`, `\12`, `\123`. A single digit from 1 would be a back-reference, which Go does not have.
    fn octal(&mut self, first: char) -> Result<(), String> {
        let digits: String = self.rest[1..].chars().take(3).take_while(|c| ('0'..='7').contains(c)).collect();
        if first != '0' && digits.len() < 2 {
            return Err(format!("invalid escape sequence: `\\{first}`"));
        }
        let number = u32::from_str_radix(&digits, 8).unwrap_or(0);
        let number = format!("{number:X}");
        self.out.extend(["\\x{", &number, "}"]);
        self.rest = &self.rest[1 + digits.len()..];
        Ok(())
    }

    fn class(&mut self) -> Result<(), String> {
        let start = self.rest;
        self.copy(1);
        if self.rest.starts_with('^') {
            self.copy(1);
        }
        let mut is_first = true;
        loop {
            let Some(c) = self.rest.chars().next() else {
                return Err(format!("missing closing ]: `{start}`"));
            };
            if c == ']' && !is_first {
                self.copy(1);
                return Ok(());
            }
            is_first = false;
            self.class_item(c)?;
        }
    }

    /// Translates a character, a range, or a class within a class.
    fn class_item(&mut self, c: char) -> Result<(), String> {
        if self.rest.starts_with("[:")
            && let Some(end) = self.rest[2..].find(":]")
        {
            let end = end + 2;
            let (class, _) = self.rest.split_at(end + 2);
            let name = class.trim_start_matches("[:").trim_start_matches('^').trim_end_matches(":]");
            if !CLASSES.contains(&name) {
                return Err(format!("invalid character class range: `{class}`"));
            }
            self.copy(end + 2);
            return Ok(());
        }
        if let Some(escape) = self.rest.strip_prefix('\\')
            && escape.starts_with(['d', 'D', 's', 'S', 'w', 'W', 'p', 'P'])
        {
            return self.escape();
        }
        let start = self.rest;
        let low = self.class_character(c)?;
        if self.rest.starts_with('-') && !self.rest.starts_with("-]") && self.rest.len() > 1 {
            self.copy(1);
            let Some(c) = self.rest.chars().next() else { return Ok(()) };
            let high = self.class_character(c)?;
            if low > high {
                let range = &start[..start.len() - self.rest.len()];
                return Err(format!("invalid character class range: `{range}`"));
            }
        }
        Ok(())
    }

    /// Translates one character of a class, and returns its code point.
    fn class_character(&mut self, c: char) -> Result<u32, String> {
        if c == '\\' {
            let escape = self.rest;
            match escape[1..].chars().next() {
                None => return Err("trailing backslash at end of expression: ``".to_owned()),
                // A class has no order.
                Some(letter @ ('p' | 'P')) => return Err(format!("invalid escape sequence: `\\{letter}`")),
                Some(escaped) => self.character_escape(escaped)?,
            }
            return Ok(code_point(&escape[1..escape.len() - self.rest.len()]));
        }
        if c.is_ascii_punctuation() {
            self.out.push('\\');
        }
        self.copy(c.len_utf8());
        Ok(u32::from(c))
    }
}

/// Returns the code point of a valid escape without its backslash: `x41`, `x{1F}`, `012`, `n`, `-`.
fn code_point(escape: &str) -> u32 {
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).unwrap_or(u32::MAX);
    match escape.as_bytes() {
        [b'x', ..] => number(escape[1..].trim_matches(['{', '}']), 16),
        [b'0'..=b'7', ..] => number(escape, 8),
        [b'a'] => 0x07,
        [b't'] => 0x09,
        [b'n'] => 0x0A,
        [b'v'] => 0x0B,
        [b'f'] => 0x0C,
        [b'r'] => 0x0D,
        _ => escape.chars().next().map_or(0, u32::from),
    }
}

/// Translates `\pL`, `\p{Greek}`, `\p{^Greek}` and their negations. None for an unknown name.
fn unicode_class(letter: char, class: &str) -> Option<String> {
    let name = class[2..].trim_start_matches('{').trim_end_matches('}');
    let (is_negated, name) = name.strip_prefix('^').map_or((false, name), |name| (true, name));
    let letter = if (letter == 'P') == is_negated { 'p' } else { 'P' };
    let translated = format!("\\{letter}{{{name}}}");
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' '));
    (is_name && regex::Regex::new(&translated).is_ok()).then_some(translated)
}

/// Returns the length of a count such as `{2}`, `{2,}` or `{2,3}`.
fn count_length(text: &str) -> Option<usize> {
    let end = text.find('}')?;
    let (first, last) = text[1..end].split_once(',').unwrap_or((&text[1..end], ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    (!first.is_empty() && is_number(first) && is_number(last)).then_some(end + 1)
}

fn check_count(text: &str) -> Result<(), String> {
    let (first, last) = text[1..text.len() - 1].split_once(',').unwrap_or((&text[1..text.len() - 1], ""));
    let number = |digits: &str| digits.parse().unwrap_or(COUNT_MAX + 1);
    let (first, last) = (number(first), if last.is_empty() { None } else { Some(number(last)) });
    if first > COUNT_MAX || last.is_some_and(|last| last > COUNT_MAX || last < first) {
        return Err(format!("invalid repeat count: `{text}`"));
    }
    Ok(())
}
