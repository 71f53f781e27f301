//! Defaults and conditions: `default`, `coalesce`, `ternary`.

use super::{Function, Type};
use crate::gotemplate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::any("default", &[Type::Any], |call| {
        let given = call.value(1);
        Ok(if is_empty(&given) { call.value(0) } else { given })
    })
    .and(Type::Any),
    Function::new("empty", &[Type::Any], |call| Ok(Value::Bool(is_empty(&call.value(0))))),
    Function::any("coalesce", &[], |call| {
        Ok(call.values(0).into_iter().find(|value| !is_empty(value)).unwrap_or(Value::Nil))
    })
    .and(Type::Any),
    Function::new("all", &[], |call| Ok(Value::Bool(!call.values(0).iter().any(is_empty)))).and(Type::Any),
    Function::new("any", &[], |call| Ok(Value::Bool(!call.values(0).iter().all(is_empty)))).and(Type::Any),
    Function::any("ternary", &[Type::Any, Type::Any, Type::Bool], |call| {
        Ok(if call.boolean(2) { call.value(0) } else { call.value(1) })
    }),
    Function::new("fail", &[Type::String], |call| super::fail(call.text(0))),
    Function::new("hello", &[], |_| Ok("Hello!".into())),
];

/// Returns whether a value is the zero of its type, or empty.
pub(super) fn is_empty(value: &Value) -> bool {
    !value.is_true()
}
