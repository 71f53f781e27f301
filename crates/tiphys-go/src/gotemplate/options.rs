//! Options of an execution.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::gotemplate::Limits;

/// Value of a field that a map does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// No value, printed as `<no value>`: `missingkey=default` and `missingkey=invalid`.
    #[default]
    Default,
    /// The zero of the map's element type: `missingkey=zero`.
    Zero,
    /// An error: `missingkey=error`.
    Error,
}

/// An unknown template option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// The empty string.
    #[error("empty option string; use missingkey=error")]
    Empty,
    /// Another string than the four known ones.
    #[error(
        "unrecognized option: {0}; use missingkey=default, missingkey=invalid, missingkey=zero or missingkey=error"
    )]
    Unknown(String),
}

impl MissingKey {
    /// Parses `goTemplateOptions`. Of several options the last one counts.
    pub fn parse<S: AsRef<str>>(options: &[S]) -> Result<Self, OptionError> {
        let mut parsed = Self::Default;
        for option in options {
            parsed = match option.as_ref() {
                "missingkey=default" | "missingkey=invalid" => Self::Default,
                "missingkey=zero" => Self::Zero,
                "missingkey=error" => Self::Error,
                "" => return Err(OptionError::Empty),
                unknown => return Err(OptionError::Unknown(unknown.to_owned())),
            };
        }
        Ok(parsed)
    }
}

/// Options of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The value of missing keys.
    pub missing_key: MissingKey,
    /// The time that `now` returns.
    pub now: SystemTime,
    /// The seed of all random functions. The same seed gives the same output.
    pub random: u64,
    /// The limits of the execution.
    pub limits: Limits,
}

impl Options {
    /// Returns the default options at a time, with a random seed that follows from it.
    pub fn at(now: SystemTime) -> Self {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::new(now, u64::from(since.subsec_nanos()) ^ since.as_secs())
    }

    /// Returns the default options at a time and with a random seed.
    pub fn new(now: SystemTime, random: u64) -> Self {
        Self { missing_key: MissingKey::Default, now, random, limits: Limits::DEFAULT }
    }
}

#[cfg(test)]
mod tests;
