//! `index` of the language.

use super::{Body, Call, Failure, Function, Type, fail};
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::value::{Named, Special, Value};

pub(super) const FUNCTIONS: &[Function] =
    &[Function::of("index", &[Type::Reflect], Body::Reflect(index)).and(Type::Reflect)];

fn index(call: &mut Call<'_>) -> Result<Reflected, Failure> {
    let mut item = call.reflected(0).unwrapped();
    if matches!(item, Reflected::Missing | Reflected::Invalid) {
        return fail("index of untyped nil");
    }
    for key in call.values(1) {
        let value = match item {
            Reflected::Missing | Reflected::Invalid | Reflected::Interface(Value::Nil) => {
                return fail("index of nil pointer");
            }
            Reflected::Plain(value) | Reflected::Interface(value) => value,
        };
        item = match value {
            Value::String(string) => {
                let index = position(&key, string.len())?;
                match string.get(index) {
                    Some(byte) => Reflected::Plain(Value::Byte(*byte)),
                    None => return fail("reflect: string index out of range"),
                }
            }
            Value::List(list) => {
                let index = position(&key, list.len())?;
                match list.get(index) {
                    Some(element) => Reflected::element(&list, element),
                    None => return fail("reflect: slice index out of range"),
                }
            }
            Value::Map(map) => match key {
                Value::String(key) => match map.get(&key) {
                    Some(value) => Reflected::entry(&map, value),
                    None => Reflected::zero_entry(&map),
                },
                Value::Nil => return fail("value is nil; should be of type string"),
                other => return fail(format!("value has type {}; should be string", other.type_name())),
            },
            Value::Special(Special(Named::Files(files))) => match key {
                Value::String(path) => Reflected::Plain(Value::named(Named::Bytes(files.content(&path)))),
                Value::Nil => return fail("value is nil; should be of type string"),
                other => return fail(format!("value has type {}; should be string", other.type_name())),
            },
            Value::Special(Special(Named::Bytes(bytes))) => match bytes.get(position(&key, bytes.len())?) {
                Some(byte) => Reflected::Plain(Value::Byte(*byte)),
                None => return fail("reflect: slice index out of range"),
            },
            other => {
                let name = other.type_name();
                return fail(format!("can't index item of type {}", name.trim_start_matches('*')));
            }
        };
    }
    Ok(item)
}

/// Returns the index of an element; the length itself is accepted here, as in Go.
fn position(key: &Value, length: usize) -> Result<usize, Failure> {
    let number = match (key.as_integer(), key.as_unsigned()) {
        (Some(number), _) => i128::from(number),
        (None, Some(number)) => i128::from(number),
        (None, None) if matches!(key, Value::Nil) => return fail("cannot index slice/array with nil"),
        (None, None) => return fail(format!("cannot index slice/array with type {}", key.type_name())),
    };
    match usize::try_from(number) {
        Ok(index) if index <= length => Ok(index),
        _ => fail(format!("index out of range: {number}")),
    }
}
