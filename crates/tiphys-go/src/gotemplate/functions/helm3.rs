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
        let format = call.string(0);
        let names_types = |verb: &[u8]| [&b"T"[..], b"#v"].iter().any(|name| verb.starts_with(name));
        if format.split(|byte| *byte == b'%').skip(1).any(names_types) {
            return Err(Failure::unsupported("the types of Helm 3 are not supported"));
        }
        builtin::printf(call)
    })
    .and(Type::Any),
];

/// Returns the name of an argument's type, with the package of Helm 3.
fn type_name(call: &Call<'_>, index: usize) -> String {
    call.value(index).type_name().replace("common.", "chartutil.")
}
