//! Versions and version ranges.

use std::rc::Rc;

use crate::versions::{Version, VersionRange};

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::value::{Named, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("semver", &[Type::String], |call| {
        Ok(Value::named(Named::Version(Rc::new(version(&call.text(0))?))))
    }),
    Function::new("semverCompare", &[Type::String, Type::String], compare),
];

pub(super) fn compare(call: &mut Call<'_>) -> Outcome {
    let range = VersionRange::parse(&call.text(0)).or_else(|error| fail(error.to_string()))?;
    Ok(Value::Bool(range.matches(&version(&call.text(1))?)))
}

fn version(text: &str) -> Result<Version, Failure> {
    Version::parse(text).or_else(|error| fail(error.to_string()))
}
