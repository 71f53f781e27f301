//! Random values. They depend on the seed of the options, and are reported as volatile.

use super::{Call, Function, Outcome, Type, fail};
use crate::gotemplate::value::Value;

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("randAlphaNum", &[Type::Int], |call| string(call, &[LETTERS, DIGITS].concat())).volatile(),
    Function::new("randAlpha", &[Type::Int], |call| string(call, LETTERS)).volatile(),
    Function::new("randNumeric", &[Type::Int], |call| string(call, DIGITS)).volatile(),
    Function::new("randAscii", &[Type::Int], |call| {
        let printable: String = (b' '..0x7f).map(char::from).collect();
        string(call, &printable)
    })
    .volatile(),
    Function::new("randInt", &[Type::Int, Type::Int], |call| {
        let (minimum, maximum) = (call.integer(0), call.integer(1));
        let Some(span) = maximum.checked_sub(minimum).filter(|span| *span > 0) else {
            return fail("invalid argument to Intn");
        };
        let offset = call.context.random() % span.unsigned_abs();
        Ok(Value::Int(minimum.wrapping_add_unsigned(offset)))
    })
    .volatile(),
    Function::new("randBytes", &[Type::Int], bytes).volatile(),
    Function::new("shuffle", &[Type::String], |call| {
        let mut characters: Vec<char> = call.text(0).chars().collect();
        for index in (1..characters.len()).rev() {
            let other = call.context.random() % (index as u64 + 1);
            characters.swap(index, usize::try_from(other).unwrap_or(0));
        }
        Ok(characters.into_iter().collect::<String>().into())
    })
    .volatile(),
    Function::new("uuidv4", &[], uuid).volatile(),
];

fn string(call: &mut Call<'_>, alphabet: &str) -> Outcome {
    // A negative count is an error that sprig ignores.
    let count = usize::try_from(call.integer(0)).unwrap_or(0);
    call.budget().take_bytes(count)?;
    let alphabet = alphabet.as_bytes();
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let index = call.context.random() % alphabet.len() as u64;
        out.push(alphabet[usize::try_from(index).unwrap_or(0)]);
    }
    Ok(out.into())
}

/// Returns random bytes in base64.
fn bytes(call: &mut Call<'_>) -> Outcome {
    let Ok(count) = usize::try_from(call.integer(0)) else {
        return fail("runtime error: makeslice: len out of range");
    };
    call.budget().take_bytes(count)?;
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        out.push(call.context.random().to_be_bytes()[0]);
    }
    Ok(super::encoding::base64(&out).into())
}

fn uuid(call: &mut Call<'_>) -> Outcome {
    let (high, low) = (call.context.random(), call.context.random());
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    Ok(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
    .into())
}
