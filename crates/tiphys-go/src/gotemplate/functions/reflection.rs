//! Types and equality of values.

use super::{Call, Function, Outcome, Type};
use crate::gotemplate::limits::{Budget, LimitError};
use crate::gotemplate::value::{Named, Special, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("typeOf", &[Type::Any], |call| Ok(call.value(0).type_name().into())),
    Function::new("typeIs", &[Type::String, Type::Any], |call| {
        Ok(Value::Bool(*call.string(0) == *call.value(1).type_name().as_bytes()))
    }),
    Function::new("typeIsLike", &[Type::String, Type::Any], |call| {
        let (target, name) = (call.text(0), call.value(1).type_name());
        Ok(Value::Bool(target == name || name.strip_prefix('*') == Some(target.as_str())))
    }),
    Function::new("kindOf", &[Type::Any], |call| Ok(call.value(0).kind().into())),
    Function::new("kindIs", &[Type::String, Type::Any], |call| {
        Ok(Value::Bool(*call.string(0) == *call.value(1).kind().as_bytes()))
    }),
    Function::new("deepEqual", &[Type::Any, Type::Any], deep_equal),
];

fn deep_equal(call: &mut Call<'_>) -> Outcome {
    let (one, other) = (call.value(0), call.value(1));
    Ok(Value::Bool(are_equal(call.budget(), &one, &other, 0)?))
}

/// Compares values and their types, as `reflect.DeepEqual`.
#[expect(clippy::float_cmp, reason = "the language compares numbers exactly")]
pub(super) fn are_equal(
    budget: &mut Budget,
    one: &Value,
    other: &Value,
    level: usize,
) -> Result<bool, LimitError> {
    budget.take(1)?;
    budget.check_depth(level)?;
    if one.type_name() != other.type_name() {
        return Ok(false);
    }
    Ok(match (one, other) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Float(one), Value::Float(other)) => one == other,
        (Value::String(one), Value::String(other)) => one == other,
        (Value::List(one), Value::List(other)) => {
            if one.is_nil() != other.is_nil() || one.len() != other.len() {
                return Ok(false);
            }
            if one.is_same(other) {
                return Ok(true);
            }
            budget.take(one.len())?;
            for (one, other) in one.items().iter().zip(&other.items()) {
                if !are_equal(budget, one, other, level + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(one), Value::Map(other)) => {
            if one.is_nil() != other.is_nil() || one.len() != other.len() {
                return Ok(false);
            }
            if one.is_same(other) {
                return Ok(true);
            }
            budget.take(one.len())?;
            for ((key, one), (other_key, other)) in one.entries().iter().zip(&other.entries()) {
                if key != other_key || !are_equal(budget, one, other, level + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Special(Special(Named::Date(one))), Value::Special(Special(Named::Date(other)))) => {
            one.since(other) == 0 && one.to_string() == other.to_string()
        }
        (Value::Special(one), Value::Special(other)) => one.0.to_string() == other.0.to_string(),
        (one, other) => (one.as_integer(), one.as_unsigned()) == (other.as_integer(), other.as_unsigned()),
    })
}
