//! Where the functions of Helm 3.22 differ from those of Helm 4.

use super::{Call, Failure, Function, Type, builtin};
use crate::gotemplate::value::Value;

/// Functions of Helm 4 that Helm 3 does not have.
pub(super) const MISSING: [&str; 13] = [
    "mustToYaml",
    "mustToToml",
    "mustToDuration",
    "durationSeconds",
    "durationMilliseconds",
    "durationMicroseconds",
    "durationNanoseconds",
    "durationMinutes",
    "durationHours",
    "durationDays",
    "durationWeeks",
    "durationRoundTo",
    "durationTruncateTo",
];

/// Functions that return the names of types.
pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("typeOf", &[Type::Any], |call| Ok(type_name(call, 0).into())),
    Function::new("typeIs", &[Type::String, Type::Any], |call| {
        Ok(Value::Bool(call.text(0) == type_name(call, 1)))
    }),
    Function::new("typeIsLike", &[Type::String, Type::Any], |call| {
        let (target, name) = (call.text(0), type_name(call, 1));
        Ok(Value::Bool(target == name || name.strip_prefix('*') == Some(&target)))
    }),
    Function::new("printf", &[Type::String], |call| {
        if call.string(0).split(|byte| *byte == b'%').skip(1).any(writes_type) {
            return Err(Failure::unsupported("the types of Helm 3 are not supported"));
        }
        builtin::printf(call)
    })
    .and(Type::Any),
];

/// Whether a verb with its flags, which follows a `%`, writes the type of a value: `T` or `#v`.
fn writes_type(verb: &[u8]) -> bool {
    let Some(end) = verb.iter().position(u8::is_ascii_alphabetic) else { return false };
    verb[end] == b'T' || verb[end] == b'v' && verb[..end].contains(&b'#')
}

/// Returns the name of an argument's type, with the package of Helm 3.
fn type_name(call: &Call<'_>, index: usize) -> String {
    call.value(index).type_name().replace("common.", "chartutil.")
}
