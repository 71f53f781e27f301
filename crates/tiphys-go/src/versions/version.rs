//! Versions.

use std::cmp::Ordering;
use std::fmt;

/// Maximum length of a version in bytes.
pub const VERSION_BYTES_MAX: usize = 256;

/// Maximum number of digits of a `u64`; longer identifiers are compared as strings.
const NUMBER_DIGITS_MAX: usize = 20;

/// A version: `1`, `v1.2`, `1.2.3-rc.1+build`. Omitted numbers are 0.
///
/// Versions that differ only in build metadata (after `+`) have the same precedence but are not equal. So there is no `==`, only
/// [`Version::precedence`].
#[derive(Clone, Debug)]
pub struct Version {
    pub(crate) numbers: [u64; 3],
    pub(crate) pre_release: String,
    metadata: String,
    text: String,
}

/// An invalid version. The messages are Argo CD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The syntax is invalid.
    #[error("invalid semantic version")]
    Shape,
    /// A number in the pre-release has a leading zero.
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
    /// Parses a version. It may start with a single lower-case `v`, and its numbers may have leading zeros.
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

    /// Returns the version as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns major, minor and patch.
    pub fn numbers(&self) -> [u64; 3] {
        self.numbers
    }

    /// Returns the pre-release without its hyphen; empty if there is none.
    pub fn pre_release(&self) -> &str {
        &self.pre_release
    }

    /// Returns the build metadata without its plus sign; empty if there is none.
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// Whether this is a pre-release, such as `1.0.0-rc.1`.
    pub fn is_pre_release(&self) -> bool {
        !self.pre_release.is_empty()
    }

    /// Compares the precedence of two versions. Build metadata (after `+`) is ignored.
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

/// The form of semantic versioning: three numbers, without `v`.
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

/// The part after the numbers: `-rc.1+build`, both optional.
pub(crate) struct Tail<'a> {
    pub(crate) pre_release: &'a str,
    pub(crate) metadata: &'a str,
    /// The remaining string.
    pub(crate) rest: &'a str,
}

impl<'a> Tail<'a> {
    pub(crate) fn split(text: &'a str) -> Self {
        let (pre_release, text) = split_after(text, '-');
        let (metadata, rest) = split_after(text, '+');
        Self { pre_release, metadata, rest }
    }
}

/// Splits off the longest prefix of a sign and dot-separated identifiers, and removes the sign. Empty if there is none.
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

/// A version without a pre-release has a higher precedence than one with a pre-release.
fn compare_pre_releases(one: &str, other: &str) -> Ordering {
    match (one.is_empty(), other.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => one.split('.').map(Identifier::new).cmp(other.split('.').map(Identifier::new)),
    }
}

/// An identifier of a pre-release. Numbers precede strings.
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
