//! Parses and formats strings as Go does, where Helm's errors and types depend on it.

#[cfg(test)]
mod tests;

use tiphys_go::strconv::quote_char;

/// Quotes a list of characters as Go's `%q` does: `['a' 'b']`.
pub(crate) fn quoted_characters(text: &str) -> String {
    format!("[{}]", text.chars().map(quote_char).collect::<Vec<_>>().join(" "))
}

/// Errors of parsing an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotANumber {
    /// Invalid syntax.
    Syntax,
    /// Outside the range of a signed 64-bit integer.
    Range,
}

/// Parses a decimal integer like Go's `strconv.Atoi`: from left to right, so the first of two errors counts.
pub(crate) fn whole_number(text: &str) -> Result<i64, NotANumber> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    if digits.is_empty() {
        return Err(NotANumber::Syntax);
    }
    let mut size = 0_u64;
    for char in digits.chars() {
        let digit = char.to_digit(10).ok_or(NotANumber::Syntax)?;
        size = size
            .checked_mul(10)
            .and_then(|size| size.checked_add(u64::from(digit)))
            .ok_or(NotANumber::Range)?;
    }
    let number = if negative { 0_i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() };
    number.ok_or(NotANumber::Range)
}

/// Whether a string equals this lower-case ASCII word without `k`, with Unicode case folding, where `ſ` is an `s` (Go's `EqualFold`).
pub(crate) fn is_word(text: &str, word: &str) -> bool {
    let folded = text.chars().map(|char| match char {
        'ſ' => 's',
        char => char.to_ascii_lowercase(),
    });
    folded.eq(word.chars())
}
