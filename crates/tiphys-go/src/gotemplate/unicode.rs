//! Go's view of strings: bytes that are decoded one character at a time, simple case mappings, and the classes of Go's package `unicode`.

use std::sync::LazyLock;

use regex::Regex;

/// The replacement of a byte that is not UTF-8.
pub(crate) const ERROR: char = char::REPLACEMENT_CHARACTER;

/// Decodes the first character and its length in bytes. An invalid byte is [`ERROR`] of length 1; no byte is [`ERROR`] of length 0.
pub(crate) fn decode(bytes: &[u8]) -> (char, usize) {
    let Some(&first) = bytes.first() else { return (ERROR, 0) };
    let length = match first {
        0..0x80 => return (char::from(first), 1),
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return (ERROR, 1),
    };
    let decoded = bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    decoded.and_then(|decoded| decoded.chars().next()).map_or((ERROR, 1), |c| (c, length))
}

/// Returns the characters with their positions and lengths in bytes.
pub(crate) fn characters(bytes: &[u8]) -> impl Iterator<Item = (usize, char, usize)> {
    let mut position = 0;
    std::iter::from_fn(move || {
        let (c, length) = decode(&bytes[position..]);
        let found = (position, c, length);
        position += length;
        (length > 0).then_some(found)
    })
}

/// Returns the first character and its length in bytes, see [`decode`].
pub(crate) fn first_char(bytes: &[u8]) -> Option<(char, usize)> {
    (!bytes.is_empty()).then(|| decode(bytes))
}

/// Returns the characters of a string as in Go's `range`: each invalid byte is U+FFFD.
pub fn chars(bytes: &[u8]) -> impl Iterator<Item = char> {
    characters(bytes).map(|(_, c, _)| c)
}

/// Maps each character. Invalid bytes become U+FFFD.
pub(crate) fn map(bytes: &[u8], mut mapping: impl FnMut(char) -> char) -> Vec<u8> {
    characters(bytes).map(|(_, c, _)| mapping(c)).collect::<String>().into_bytes()
}

/// Returns the single upper-case character, or the character itself if its upper case is several.
pub(crate) fn to_upper(c: char) -> char {
    single(c, c.to_uppercase())
}

/// Returns the title-case character.
pub(crate) fn to_title(c: char) -> char {
    match c {
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        'ა'..='ჿ' => c,
        c => to_upper(c),
    }
}

/// Returns the single lower-case character.
pub(crate) fn to_lower(c: char) -> char {
    if c == 'İ' { 'i' } else { single(c, c.to_lowercase()) }
}

/// Returns a string in lower case as `strings.ToLower`, which maps each character to one character.
pub fn lower_case(text: &str) -> String {
    text.chars().map(to_lower).collect()
}

fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// White space as of `unicode.IsSpace`.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace()
}

macro_rules! class {
    ($name:ident, $doc:literal, $ascii:expr, $pattern:literal) => {
        #[doc = $doc]
        pub(crate) fn $name(c: char) -> bool {
            static CLASS: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("a valid class"));
            let ascii: fn(u8) -> bool = $ascii;
            match u8::try_from(c) {
                Ok(byte) if byte.is_ascii() => ascii(byte),
                _ => CLASS.is_match(c.encode_utf8(&mut [0; 4])),
            }
        }
    };
}

class!(is_letter, "`unicode.IsLetter`", |byte| byte.is_ascii_alphabetic(), r"\p{L}");
class!(is_digit, "`unicode.IsDigit`", |byte| byte.is_ascii_digit(), r"\p{Nd}");
class!(is_number, "`unicode.IsNumber`", |byte| byte.is_ascii_digit(), r"\p{N}");
class!(
    is_punctuation,
    "`unicode.IsPunct`",
    |byte| byte.is_ascii_punctuation() && !b"$+<=>^`|~".contains(&byte),
    r"\p{P}"
);
class!(is_upper, "`unicode.IsUpper`", |byte| byte.is_ascii_uppercase(), r"\p{Lu}");
class!(is_lower, "`unicode.IsLower`", |byte| byte.is_ascii_lowercase(), r"\p{Ll}");
class!(is_title, "`unicode.IsTitle`", |_| false, r"\p{Lt}");
class!(is_print, "`unicode.IsPrint`", |byte| (b' '..0x7f).contains(&byte), r"[\p{L}\p{M}\p{N}\p{P}\p{S}]");

/// Characters of names in actions.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    c == '_' || is_letter(c) || is_digit(c)
}

/// Returns the content of a literal with its quotes, as `strconv.Unquote`.
pub(crate) fn unquote(literal: &[u8]) -> Option<Vec<u8>> {
    let (&quote, rest) = literal.split_first()?;
    let (&last, inner) = rest.split_last()?;
    if quote != last {
        return None;
    }
    if quote == b'`' {
        let is_plain = !inner.contains(&b'`');
        return is_plain.then(|| inner.iter().copied().filter(|byte| *byte != b'\r').collect());
    }
    let mut out = Vec::new();
    let mut rest = inner;
    while !rest.is_empty() {
        if rest[0] == b'\n' {
            return None;
        }
        let (unescaped, after) = unescape(rest, quote)?;
        match unescaped {
            Unit::Byte(byte) => out.push(byte),
            Unit::Character(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = after;
    }
    Some(out)
}

/// A unit of a literal: a byte given by an escape, or a character.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    /// `\x41`, `\101`
    Byte(u8),
    /// Everything else.
    Character(char),
}

impl Unit {
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Byte(byte) => byte.into(),
            Self::Character(c) => c.into(),
        }
    }
}

/// Returns the first unit of the content of a literal and the rest, as `strconv.UnquoteChar`.
pub(crate) fn unescape(content: &[u8], quote: u8) -> Option<(Unit, &[u8])> {
    let first = *content.first()?;
    if first == quote {
        return None;
    }
    if first != b'\\' {
        let (c, length) = decode(content);
        return Some((Unit::Character(c), &content[length..]));
    }
    let (&kind, rest) = content[1..].split_first()?;
    let simple = match kind {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' => b'\\',
        b'\'' | b'"' if kind == quote => quote,
        b'x' => {
            let number = digits(rest.get(..2)?, 16)?;
            return Some((Unit::Byte(u8::try_from(number).ok()?), &rest[2..]));
        }
        b'u' | b'U' => {
            let length = if kind == b'u' { 4 } else { 8 };
            let c = char::from_u32(digits(rest.get(..length)?, 16)?)?;
            return Some((Unit::Character(c), &rest[length..]));
        }
        b'0'..=b'7' => {
            let number = digits(content.get(1..4)?, 8)?;
            return Some((Unit::Byte(u8::try_from(number).ok()?), &rest[2..]));
        }
        _ => return None,
    };
    Some((Unit::Byte(simple), rest))
}

fn digits(digits: &[u8], radix: u32) -> Option<u32> {
    digits.iter().try_fold(0_u32, |number, digit| {
        number.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?)
    })
}
