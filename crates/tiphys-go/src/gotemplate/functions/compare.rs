//! Comparisons of the language: `eq`, `ne`, `lt`, `le`, `gt`, `ge`.

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::format;
use crate::gotemplate::value::{Named, Special, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("eq", &[Type::Reflect], equal).and(Type::Reflect),
    Function::new("ne", &[Type::Reflect, Type::Reflect], |call| Ok(Value::Bool(!is_equal(call, 0, 1)?))),
    Function::new("lt", &[Type::Reflect, Type::Reflect], |call| Ok(Value::Bool(is_less(call)?))),
    Function::new("le", &[Type::Reflect, Type::Reflect], |call| Ok(Value::Bool(is_less_or_equal(call)?))),
    Function::new("gt", &[Type::Reflect, Type::Reflect], |call| Ok(Value::Bool(!is_less_or_equal(call)?))),
    Function::new("ge", &[Type::Reflect, Type::Reflect], |call| Ok(Value::Bool(!is_less(call)?))),
];

/// The kind of a value that can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Basic {
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    String,
}

fn basic(value: &Value) -> Option<Basic> {
    if let Some(integer) = value.as_integer() {
        return Some(Basic::Integer(integer));
    }
    if let Some(unsigned) = value.as_unsigned() {
        return Some(Basic::Unsigned(unsigned));
    }
    match value {
        Value::Bool(value) => Some(Basic::Bool(*value)),
        Value::Float(value) => Some(Basic::Float(*value)),
        Value::String(_) => Some(Basic::String),
        _ => None,
    }
}

fn equal(call: &mut Call<'_>) -> Outcome {
    let count = call.arguments.len();
    if count == 1 {
        return fail("missing argument for comparison");
    }
    for index in 1..count {
        if is_equal(call, 0, index)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn incompatible<T>(one: &Value, other: &Value) -> Result<T, Failure> {
    fail(format!("incompatible types for comparison: {} and {}", one.type_name(), other.type_name()))
}

/// Whether the signed and the unsigned number are equal.
fn is_same(signed: i64, unsigned: u64) -> bool {
    u64::try_from(signed) == Ok(unsigned)
}

#[expect(clippy::float_cmp, reason = "the language compares numbers exactly")]
fn is_equal(call: &mut Call<'_>, first: usize, second: usize) -> Result<bool, Failure> {
    let (one, other) = (call.value(first), call.value(second));
    Ok(match (basic(&one), basic(&other)) {
        (Some(Basic::Bool(one)), Some(Basic::Bool(other))) => one == other,
        (Some(Basic::Float(one)), Some(Basic::Float(other))) => one == other,
        (Some(Basic::Integer(one)), Some(Basic::Integer(other))) => one == other,
        (Some(Basic::Unsigned(one)), Some(Basic::Unsigned(other))) => one == other,
        (Some(Basic::Integer(one)), Some(Basic::Unsigned(other))) => is_same(one, other),
        (Some(Basic::Unsigned(one)), Some(Basic::Integer(other))) => is_same(other, one),
        (Some(Basic::String), Some(Basic::String)) => match (&one, &other) {
            (Value::String(one), Value::String(other)) => one == other,
            _ => false,
        },
        (None, None) => return are_equal_otherwise(call, (one, other), (first, second)),
        _ if matches!(one, Value::Nil) || matches!(other, Value::Nil) => false,
        _ => return incompatible(&one, &other),
    })
}

/// Compares values that are not basic: only with nil, or if they have comparable types.
fn are_equal_otherwise(
    call: &mut Call<'_>,
    (one, other): (Value, Value),
    (first, second): (usize, usize),
) -> Result<bool, Failure> {
    let kinds = [one.kind(), other.kind()];
    if kinds[0] != kinds[1] && !kinds.contains(&"invalid") {
        let shown = [shown(call, first, b"%s")?, shown(call, second, b"%v")?];
        let types = [one.type_name(), other.type_name()];
        return fail(format!("non-comparable types {}: {}, {}: {}", shown[0], types[0], types[1], shown[1]));
    }
    let is_nil = |value: &Value| match value {
        Value::Nil => true,
        Value::List(list) => list.is_nil(),
        Value::Map(map) => map.is_nil(),
        _ => false,
    };
    if is_nil(&one) || is_nil(&other) {
        return Ok(is_nil(&one) == is_nil(&other));
    }
    match (&one, &other) {
        (Value::Special(Special(Named::Version(one))), Value::Special(Special(Named::Version(other)))) => {
            Ok(std::rc::Rc::ptr_eq(one, other))
        }
        (Value::Special(Special(Named::Struct(one))), Value::Special(Special(Named::Struct(other))))
            if one.text.is_some() || one.type_name.starts_with('*') =>
        {
            Ok(std::rc::Rc::ptr_eq(one, other))
        }
        (Value::Special(Special(Named::Date(one))), Value::Special(Special(Named::Date(other)))) => {
            Ok(one.since(other) == 0 && one.to_string() == other.to_string())
        }
        _ => {
            let shown = shown(call, second, b"%s")?;
            fail(format!("non-comparable type {shown}: {}", other.type_name()))
        }
    }
}

/// Formats an argument as Go's message does.
fn shown(call: &mut Call<'_>, index: usize, format: &[u8]) -> Result<String, Failure> {
    let value = call.value(index);
    let bytes = format::printf(call.budget(), format, &[value])?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_less(call: &mut Call<'_>) -> Result<bool, Failure> {
    let (one, other) = (call.value(0), call.value(1));
    let (Some(a), Some(b)) = (basic(&one), basic(&other)) else {
        return fail("invalid type for comparison");
    };
    Ok(match (a, b) {
        (Basic::Bool(_), Basic::Bool(_)) => {
            return fail("invalid type for comparison");
        }
        (Basic::Float(a), Basic::Float(b)) => a < b,
        (Basic::Integer(a), Basic::Integer(b)) => a < b,
        (Basic::Unsigned(a), Basic::Unsigned(b)) => a < b,
        (Basic::Integer(a), Basic::Unsigned(b)) => u64::try_from(a).is_ok_and(|a| a < b) || a < 0,
        (Basic::Unsigned(a), Basic::Integer(b)) => u64::try_from(b).is_ok_and(|b| a < b),
        (Basic::String, Basic::String) => match (&one, &other) {
            (Value::String(one), Value::String(other)) => one < other,
            _ => false,
        },
        _ => return incompatible(&one, &other),
    })
}

fn is_less_or_equal(call: &mut Call<'_>) -> Result<bool, Failure> {
    Ok(is_less(call)? || is_equal(call, 0, 1)?)
}
