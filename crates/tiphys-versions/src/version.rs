//! One version.

use std::cmp::Ordering;
use std::fmt;

/// Bytes of a version.
pub const VERSION_BYTES_MAX: usize = 256;

/// Digits that `u64` can hold at most, to tell numbers from texts that are too long for one.
const NUMBER_DIGITS_MAX: usize = 20;

/// A version: `1`, `v1.2`, `1.2.3-rc.1+build`. What is left out is 0.
///
/// Two versions that differ only in what follows `+` are of the same precedence, and yet not the same: hence there is no `==`, but
/// [`Version::precedence`].
#[derive(Clone, Debug)]
pub struct Version {
    pub(crate) numbers: [u64; 3],
    pub(crate) pre_release: String,
    metadata: String,
    text: String,
}

/// A text that is no version. The texts are Argo CD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// It has another shape.
    #[error("invalid semantic version")]
    Shape,
    /// A number of the pre-release begins with 0.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// A number is too large for 64 bits.
    #[error("error parsing version segment: value out of range")]
    Range,
    /// It is longer than [`VERSION_BYTES_MAX`].
    #[error("version string is too long (max {VERSION_BYTES_MAX} bytes)")]
    Length,
}

impl Version {
    /// Reads a version. A single lower-case `v` may stand before it, and numbers may begin with 0.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text.len() > VERSION_BYTES_MAX {
            return Err(VersionError::Length);
        }
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (first, mut rest) = split_digits(rest).ok_or(VersionError::Shape)?;
        let mut digits = [first, "", ""];
        for part in &mut digits[1..] {
            let Some((next, after)) = rest.strip_prefix('.').and_then(split_digits) else { break };
            (*part, rest) = (next, after);
        }
        let tail = Tail::split(rest);
        if !tail.rest.is_empty() {
            return Err(VersionError::Shape);
        }
        let mut numbers = [0; 3];
        for (number, digits) in numbers.iter_mut().zip(digits) {
            if !digits.is_empty() {
                *number = digits.parse().map_err(|_| VersionError::Range)?;
            }
        }
        check_pre_release(tail.pre_release)?;
        Ok(Self {
            numbers,
            pre_release: tail.pre_release.to_owned(),
            metadata: tail.metadata.to_owned(),
            text: text.to_owned(),
        })
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether this is a pre-release, as `1.0.0-rc.1`.
    pub fn is_pre_release(&self) -> bool {
        !self.pre_release.is_empty()
    }

    /// Which of two versions comes first. What follows `+` does not count.
    pub fn precedence(&self, other: &Self) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| compare_pre_releases(&self.pre_release, &other.pre_release))
    }

    pub(crate) fn new(numbers: [u64; 3], pre_release: &str) -> Result<Self, VersionError> {
        check_pre_release(pre_release)?;
        Ok(Self {
            numbers,
            pre_release: pre_release.to_owned(),
            metadata: String::new(),
            text: String::new(),
        })
    }
}

/// As semantic versioning writes it: three numbers, and no `v`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if !self.pre_release.is_empty() {
            write!(f, "-{}", self.pre_release)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// What follows the numbers: `-rc.1+build`, both parts optional.
pub(crate) struct Tail<'a> {
    pub(crate) pre_release: &'a str,
    pub(crate) metadata: &'a str,
    /// What belongs to neither.
    pub(crate) rest: &'a str,
}

impl<'a> Tail<'a> {
    pub(crate) fn split(text: &'a str) -> Self {
        let (pre_release, text) = split_after(text, '-');
        let (metadata, rest) = split_after(text, '+');
        Self { pre_release, metadata, rest }
    }
}

/// The longest beginning that is a sign and identifiers divided by dots, without the sign; empty if there is none.
fn split_after(text: &str, sign: char) -> (&str, &str) {
    let Some(after) = text.strip_prefix(sign) else { return ("", text) };
    let identifier = |text: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        text.find(|c| !is_part(c)).unwrap_or(text.len())
    };
    let mut end = identifier(after);
    if end == 0 {
        return ("", text);
    }
    while let Some(next) = after[end..].strip_prefix('.') {
        let length = identifier(next);
        if length == 0 {
            break;
        }
        end += 1 + length;
    }
    after.split_at(end)
}

fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn check_pre_release(text: &str) -> Result<(), VersionError> {
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let begins_with_zero = |part: &str| part.len() > 1 && part.starts_with('0');
    if text.split('.').any(|part| is_number(part) && begins_with_zero(part)) {
        return Err(VersionError::LeadingZero);
    }
    Ok(())
}

/// A version without a pre-release comes after those that have one.
fn compare_pre_releases(one: &str, other: &str) -> Ordering {
    match (one.is_empty(), other.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => one.split('.').map(Identifier::new).cmp(other.split('.').map(Identifier::new)),
    }
}

/// A part of a pre-release: numbers come before texts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identifier<'a> {
    Number(u64),
    Text(&'a str),
}

impl<'a> Identifier<'a> {
    fn new(part: &'a str) -> Self {
        let can_be_number = part.len() <= NUMBER_DIGITS_MAX && part.bytes().all(|byte| byte.is_ascii_digit());
        let number = if can_be_number { part.parse().ok() } else { None };
        number.map_or(Self::Text(part), Self::Number)
    }
}

#[cfg(test)]
mod tests;
