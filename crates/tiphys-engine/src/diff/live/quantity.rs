//! Quantities of Kubernetes: exact decimal numbers with a suffix.

/// A number: `digits × 10^tens × 2^twos`.
struct Quantity {
    digits: i128,
    tens: i32,
    twos: i32,
}

/// Returns whether two strings are the same quantity. An invalid quantity equals nothing, not even itself.
pub(super) fn equal(one: &str, other: &str) -> bool {
    match (Quantity::parse(one), Quantity::parse(other)) {
        (Some(one), Some(other)) => one.equals(&other),
        _ => false,
    }
}

impl Quantity {
    fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (tens, twos) = scale(suffix)?;
        let (sign, number) = match number.as_bytes().first()? {
            b'-' => (-1, &number[1..]),
            b'+' => (1, &number[1..]),
            _ => (1, number),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let joined = format!("{whole}{fraction}");
        let significant = joined.trim_start_matches('0');
        if joined.is_empty() || !joined.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        // Kubernetes' quantities have 64 bits and nine decimal places, so a number that does not fit is invalid.
        let digits: i128 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
        Some(Self { digits: sign * digits, tens: tens - i32::try_from(fraction.len()).ok()?, twos })
    }

    fn equals(&self, other: &Self) -> bool {
        if self.digits == 0 || other.digits == 0 {
            return self.digits == other.digits;
        }
        let (tens, twos) = (self.tens.min(other.tens), self.twos.min(other.twos));
        match (self.scaled(tens, twos), other.scaled(tens, twos)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        }
    }

    /// Returns the digits for these exponents; `None` on overflow.
    fn scaled(&self, tens: i32, twos: i32) -> Option<i128> {
        let power = |base: i128, exponent: i32| base.checked_pow(u32::try_from(exponent).ok()?);
        self.digits.checked_mul(power(10, self.tens - tens)?)?.checked_mul(power(2, self.twos - twos)?)
    }
}

/// Returns the exponents of ten and two for a suffix.
fn scale(suffix: &str) -> Option<(i32, i32)> {
    Some(match suffix {
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "" => (0, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            (exponent.parse::<i8>().ok()?.into(), 0)
        }
    })
}

#[cfg(test)]
mod tests;
