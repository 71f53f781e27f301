//! Numbers as Go writes and reads them.

/// The form of a floating-point number: the verbs of `fmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `%e`
    Exponent,
    /// `%f`
    Fixed,
    /// `%g`
    General,
    /// `%b`
    Binary,
    /// `%x`
    Hexadecimal,
}

/// Formats a number as `%v` does.
pub(crate) fn general(value: f64) -> String {
    format(value, Form::General, None)
}

/// Formats a number like `strconv.FormatFloat`. Without a precision, as many digits are written as are needed to read the same number.
pub(crate) fn format(value: f64, form: Form, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let value = value.abs();
    let digits = match form {
        Form::Exponent => exponential(value, precision),
        Form::Fixed => match precision {
            Some(precision) => format!("{value:.precision$}"),
            None => format!("{value}"),
        },
        Form::General => shorter(value, precision),
        Form::Binary => binary(value),
        Form::Hexadecimal => hexadecimal(value, precision),
    };
    format!("{sign}{digits}")
}

fn exponential(value: f64, precision: Option<usize>) -> String {
    let written = match precision {
        Some(precision) => format!("{value:.precision$e}"),
        None => format!("{value:e}"),
    };
    let (mantissa, exponent) = written.split_once('e').expect("an exponent");
    with_exponent(mantissa, 'e', exponent.parse().expect("a number"))
}

/// Appends an exponent with a sign and at least two digits.
fn with_exponent(mantissa: &str, letter: char, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{letter}{sign}{:02}", exponent.unsigned_abs())
}

/// `%g`: the exponent is written if it is below -4, or not below the precision (6 without one).
fn shorter(value: f64, precision: Option<usize>) -> String {
    let precision = precision.map(|precision| precision.max(1));
    let written = match precision {
        Some(precision) => format!("{value:.*e}", precision - 1),
        None => format!("{value:e}"),
    };
    let (mantissa, exponent) = written.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    let mut digits: Vec<char> = mantissa.chars().filter(char::is_ascii_digit).collect();
    while digits.len() > 1 && digits.last() == Some(&'0') {
        digits.pop();
    }
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let mut threshold = match precision {
        Some(precision) => i32::try_from(precision).unwrap_or(i32::MAX),
        None => 6,
    };
    if precision.is_some() && threshold > count && count > exponent {
        threshold = count;
    }
    if exponent < -4 || exponent >= threshold {
        let (first, rest) = digits.split_at(1);
        let mut mantissa = String::from(first[0]);
        if !rest.is_empty() {
            mantissa.push('.');
            mantissa.extend(rest);
        }
        return with_exponent(&mantissa, 'e', exponent);
    }
    let decimals = usize::try_from(count - exponent - 1).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// `%b`: the mantissa and the exponent of two.
fn binary(value: f64) -> String {
    let (mantissa, exponent) = parts(value);
    format!("{mantissa}p{}{}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// Returns an integer and an exponent of two whose product is the number.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0) {
        0 => (fraction, -1074),
        exponent => (fraction | (1 << 52), exponent - 1075),
    }
}

/// `%x`: a hexadecimal mantissa with one digit before the point, and the exponent of two.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let (mut mantissa, mut exponent) = parts(value);
    if mantissa == 0 {
        exponent = 0;
    } else {
        let shift = mantissa.leading_zeros() - 3;
        // The leading 1 is at bit 60.
        mantissa <<= shift;
        exponent += 60 - i32::try_from(shift).unwrap_or(0);
    }
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let dropped = 60 - 4 * u32::try_from(precision).unwrap_or(0);
        let (extra, half) = (mantissa & ((1 << dropped) - 1), 1 << (dropped - 1));
        mantissa >>= dropped;
        if extra > half || (extra == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= dropped;
        if mantissa >> 61 == 1 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let mut digits = format!("{:015x}", mantissa & ((1 << 60) - 1));
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) => {
            digits.truncate(precision);
            digits.extend(std::iter::repeat_n('0', precision.saturating_sub(15)));
        }
    }
    let point = if digits.is_empty() { "" } else { "." };
    with_exponent(&format!("0x{}{point}{digits}", mantissa >> 60), 'p', exponent)
}

/// Parses an integer with its prefix (`0x1f`, `0o17`, `017`, `0b11`) and underscores, without a sign, like `strconv.ParseUint` with base 0.
pub(crate) fn parse_unsigned(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let (radix, digits, has_prefix) = match bytes {
        [b'0', b'x' | b'X', ..] => (16, &text[2..], true),
        [b'0', b'o' | b'O', ..] => (8, &text[2..], true),
        [b'0', b'b' | b'B', ..] => (2, &text[2..], true),
        [b'0', _, ..] => (8, &text[1..], true),
        _ => (10, text, false),
    };
    // An underscore is between digits, or between the prefix and a digit.
    let is_separated =
        !digits.contains("__") && !digits.ends_with('_') && (has_prefix || !digits.starts_with('_'));
    if !is_separated {
        return None;
    }
    let digits = digits.replace('_', "");
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(&digits, radix).ok()
}

/// Parses an integer with a sign, like `strconv.ParseInt` with base 0.
pub(crate) fn parse_signed(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = parse_unsigned(digits)?;
    if is_negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Parses a floating-point number, like `strconv.ParseFloat`: decimal or hexadecimal, with underscores between digits.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        let value = parse_hexadecimal(&unsigned[2..])?;
        return Some(if text.starts_with('-') { -value } else { value });
    }
    let is_separated = |(index, _): (usize, &str)| {
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        digit(text.as_bytes()[..index].last()) && digit(text.as_bytes().get(index + 1))
    };
    if !text.match_indices('_').all(is_separated) {
        return None;
    }
    let value: f64 = text.replace('_', "").parse().ok()?;
    // Too large a number is an error in Go, infinity by its name is not.
    let is_named = unsigned.starts_with(|c: char| c.is_ascii_alphabetic());
    (value.is_finite() || is_named).then_some(value)
}

fn parse_hexadecimal(text: &str) -> Option<f64> {
    let text = text.replace('_', "");
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 13 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "13 hexadecimal digits fit the mantissa")]
    let integer = u64::from_str_radix(&digits, 16).ok()? as f64;
    let value = integer * 2_f64.powi(exponent - 4 * i32::try_from(fraction.len()).ok()?);
    value.is_finite().then_some(value)
}

/// Converts a float to an integer as Go does on amd64: what does not fit becomes the smallest integer.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
pub(crate) fn to_integer(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests;
