//! Parses values of Argo CD's variables and flags like Go.

use std::time::Duration;

use tiphys_go::gotemplate::parse_duration;

/// Parses a duration like `time.ParseDuration`: `1h30m`, `1.5s`, `300ms`. Returns none if Go rejects it, if it is negative, or if it is
/// longer than Go supports (292 years).
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let nanoseconds = parse_duration(text).ok().filter(|_| !text.starts_with('-'))?;
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests;
