//! Numeric literals.

use crate::gotemplate::lex::{Kind, Token};
use crate::gotemplate::number::{parse_float, parse_signed, parse_unsigned, to_integer};
use crate::gotemplate::tree::Number;
use crate::gotemplate::unicode::unescape;
use crate::strconv::quote;

/// Parses a literal; the error is a message.
pub(super) fn parse(token: &Token) -> Result<Number, String> {
    let text = token.text();
    match token.kind {
        Kind::CharConstant => character(token, text),
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
    })
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
    let integer = parse_signed(&text);
    let unsigned = parse_unsigned(&text).or((integer == Some(0)).then_some(0));
    let float = integer.map(|value| value as f64).or(unsigned.map(|value| value as f64));
    if float.is_some() {
        return Ok(Number { text, integer, unsigned, float });
    }
    let quoted = quote(&text);
    let Some(value) = parse_float(&text) else {
        return Err(format!("illegal number syntax: {quoted}"));
    };
    if !text.contains(['.', 'e', 'E', 'p', 'P']) {
        return Err(format!("integer overflow: {quoted}"));
    }
    Ok(Number { text, integer: exact_integer(value), unsigned: exact_unsigned(value), float: Some(value) })
}
