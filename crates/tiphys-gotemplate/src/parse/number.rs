//! Numeric literals.

use crate::lex::{Kind, Token};
use crate::number::{parse_float, parse_signed, parse_unsigned, to_integer};
use crate::tree::Number;
use crate::unicode::{Unescaped, quote, unescape};

/// Parses a literal; the error is a message.
pub(super) fn parse(token: &Token) -> Result<Number, String> {
    let text = token.text();
    match token.kind {
        Kind::CharConstant => character(token, text),
        Kind::Complex => complex(&text).map(|complex| of_complex(text, complex)),
        _ => plain(text),
    }
}

fn character(token: &Token, text: String) -> Result<Number, String> {
    let Some((unit, rest)) = unescape(&token.value[1..], token.value[0]) else {
        return Err("invalid syntax".to_owned());
    };
    if rest != b"'" {
        return Err(format!("malformed character constant: {text}"));
    }
    let number = unit.number();
    Ok(Number {
        text,
        integer: Some(number.into()),
        unsigned: Some(number.into()),
        float: Some(number.into()),
        complex: None,
    })
}

/// Parses `1+2i`: the second sign that does not belong to an exponent separates the parts.
fn complex(text: &str) -> Result<(f64, f64), String> {
    let bytes = text.as_bytes();
    let is_hexadecimal = text.trim_start_matches(['+', '-']).starts_with("0x");
    let exponents: &[u8] = if is_hexadecimal { b"pP" } else { b"eE" };
    let split = (1..bytes.len())
        .find(|index| matches!(bytes[*index], b'+' | b'-') && !exponents.contains(&bytes[index - 1]));
    let parts = split.and_then(|index| {
        let (real, imaginary) = text.split_at(index);
        Some((parse_float(real)?, parse_float(imaginary.strip_suffix('i')?)?))
    });
    parts.ok_or_else(|| "syntax error scanning complex number".to_owned())
}

fn of_complex(text: String, complex: (f64, f64)) -> Number {
    let float = (complex.1 == 0.0).then_some(complex.0);
    let integer = float.and_then(exact_integer);
    Number { text, integer, unsigned: float.and_then(exact_unsigned), float, complex: Some(complex) }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "the number is exact if it is the same again"
)]
fn exact_integer(value: f64) -> Option<i64> {
    let integer = to_integer(value);
    (integer as f64 == value).then_some(integer)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "the number is exact if it is the same again"
)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn exact_unsigned(value: f64) -> Option<u64> {
    let unsigned = value as u64;
    ((0.0..18_446_744_073_709_551_616.0).contains(&value) && unsigned as f64 == value).then_some(unsigned)
}

#[expect(clippy::cast_precision_loss, reason = "as in Go")]
fn plain(text: String) -> Result<Number, String> {
    if let Some(imaginary) = text.strip_suffix('i').and_then(parse_float) {
        return Ok(of_complex(text, (0.0, imaginary)));
    }
    let integer = parse_signed(&text);
    let unsigned = parse_unsigned(&text).or((integer == Some(0)).then_some(0));
    let float = integer.map(|value| value as f64).or(unsigned.map(|value| value as f64));
    if float.is_some() {
        return Ok(Number { text, integer, unsigned, float, complex: None });
    }
    let quoted = quote(text.as_bytes(), '"', Unescaped::Printable);
    let Some(value) = parse_float(&text) else {
        return Err(format!("illegal number syntax: {quoted}"));
    };
    if !text.contains(['.', 'e', 'E', 'p', 'P']) {
        return Err(format!("integer overflow: {quoted}"));
    }
    Ok(Number {
        text,
        integer: exact_integer(value),
        unsigned: exact_unsigned(value),
        float: Some(value),
        complex: None,
    })
}
