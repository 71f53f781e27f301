//! Units of limits.

use std::ops::RangeInclusive;

/// The unit of a limit's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A number of things.
    Count,
}

/// A value that a limit does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub struct LimitError {
    expected: String,
}

impl Unit {
    /// The suffixes of values, with their factors.
    const fn suffixes(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Bytes => &[("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)],
            Self::Seconds => &[("", 1), ("s", 1), ("m", 60), ("h", 3_600)],
            Self::Count => &[("", 1)],
        }
    }

    /// Describes the values.
    const fn expected(self) -> &'static str {
        match self {
            Self::Bytes => "a size in bytes, or with KiB, MiB or GiB",
            Self::Seconds => "a time in whole seconds, or with s, m or h",
            Self::Count => "a whole number",
        }
    }

    /// Reads a value into this unit.
    pub(super) fn read(self, value: &str) -> Result<u64, LimitError> {
        let invalid = || LimitError { expected: self.expected().to_owned() };
        let end = value.find(|char: char| !char.is_ascii_digit()).unwrap_or(value.len());
        let (number, suffix) = value.split_at(end);
        let factor = self.suffixes().iter().find(|(name, _)| *name == suffix).ok_or_else(invalid)?.1;
        let number: u64 = number.parse().map_err(|_| invalid())?;
        number.checked_mul(factor).ok_or_else(invalid)
    }

    /// Writes a value with the largest unit that leaves it a whole number.
    pub fn write(self, value: u64) -> String {
        let fitting =
            self.suffixes().iter().rev().find(|(_, factor)| value != 0 && value.is_multiple_of(*factor));
        let (suffix, factor) = fitting.copied().unwrap_or(("", 1));
        format!("{}{suffix}", value / factor)
    }
}

impl LimitError {
    pub(super) fn out_of(range: &RangeInclusive<u64>, unit: Unit) -> Self {
        let least = unit.write(*range.start());
        let expected = match *range.end() {
            u64::MAX => format!("at least {least}"),
            most => format!("{least} to {}", unit.write(most)),
        };
        Self { expected }
    }
}
