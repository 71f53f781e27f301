//! Functions of the language: conditions, printing, `call` and `len`.

use super::{Body, Call, Function, Outcome, Type, fail};
use crate::gotemplate::format;
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::value::{Named, Special, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::of("and", &[Type::Reflect], Body::And).and(Type::Reflect),
    Function::of("or", &[Type::Reflect], Body::Or).and(Type::Reflect),
    Function::new("not", &[Type::Reflect], |call| Ok(Value::Bool(!call.value(0).is_true()))),
    Function::new("len", &[Type::Reflect], length),
    Function::of("call", &[Type::Reflect], Body::Call).and(Type::Reflect),
    Function::new("print", &[], print).and(Type::Any),
    Function::new("println", &[], print_line).and(Type::Any),
    Function::new("printf", &[Type::String], printf).and(Type::Any),
];

fn length(call: &mut Call<'_>) -> Outcome {
    let length = match call.reflected(0) {
        Reflected::Interface(Value::Nil) => return fail("len of nil pointer"),
        Reflected::Missing | Reflected::Invalid => {
            return fail("reflect: call of reflect.Value.Type on zero Value");
        }
        Reflected::Plain(value) | Reflected::Interface(value) => match value {
            Value::String(string) => string.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            Value::Special(Special(Named::Files(files))) => files.0.len(),
            Value::Special(Special(Named::Bytes(bytes))) => bytes.len(),
            other => return fail(format!("len of type {}", other.type_name().trim_start_matches('*'))),
        },
    };
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn print(call: &mut Call<'_>) -> Outcome {
    let values = call.values(0);
    Ok(format::print(call.budget(), &values)?.into())
}

fn print_line(call: &mut Call<'_>) -> Outcome {
    let values = call.values(0);
    Ok(format::print_line(call.budget(), &values)?.into())
}

pub(super) fn printf(call: &mut Call<'_>) -> Outcome {
    let (format, values) = (call.string(0), call.values(1));
    Ok(format::printf(call.budget(), &format, &values)?.into())
}
