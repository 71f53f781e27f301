//! Parses values of Argo CD's variables and flags like Go.

use std::time::Duration;

/// Parses a duration like `time.ParseDuration`: `1h30m`, `1.5s`, `300ms`. Returns none if Go rejects it, if it is negative, or if it is
/// longer than Go supports (292 years).
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut nanoseconds = 0_u128;
    loop {
        let (whole, after) = digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), digits);
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after.find(|sign: char| sign == '.' || sign.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let unit = unit_nanoseconds(unit)?;
        let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        nanoseconds =
            nanoseconds.checked_add(whole.checked_mul(unit)?)?.checked_add(part_of(fraction, unit))?;
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let nanoseconds = i64::try_from(nanoseconds).ok()?;
    Some(Duration::from_nanos(nanoseconds.unsigned_abs()))
}

/// Splits a string after its leading digits.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len()))
}

fn unit_nanoseconds(unit: &str) -> Option<u128> {
    let nanoseconds = match unit {
        "ns" => 1,
        // The micro sign and the Greek letter mu.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    Some(nanoseconds)
}

/// The nanoseconds of a decimal fraction of a unit.
fn part_of(fraction: &str, unit: u128) -> u128 {
    /// Further digits have no effect: an hour has less than 10^13 nanoseconds.
    const DIGITS_MAX: usize = 18;
    let used = &fraction[..fraction.len().min(DIGITS_MAX)];
    let scale = (0..used.len()).fold(1, |scale: u128, _| scale * 10);
    used.parse::<u128>().map_or(0, |value| value * unit / scale)
}

#[cfg(test)]
mod tests;
