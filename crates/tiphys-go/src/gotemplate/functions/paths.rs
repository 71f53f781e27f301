//! Paths with slashes.

use super::{Function, Type};
use crate::gotemplate::value::Value;
use crate::path::{base, clean, directory, extension};

macro_rules! paths {
    ($(($name:literal, $os:literal, $body:expr)),+ $(,)?) => {
        pub(super) const FUNCTIONS: &[Function] = &[$(
            Function::new($name, &[Type::String], |call| Ok($body(&call.string(0)).into())),
            Function::new($os, &[Type::String], |call| Ok($body(&call.string(0)).into())),
        )+];
    };
}

/// A boolean that is the result of a function.
struct Flag(bool);

impl From<Flag> for Value {
    fn from(flag: Flag) -> Self {
        Self::Bool(flag.0)
    }
}

paths!(
    ("base", "osBase", base),
    ("dir", "osDir", directory),
    ("clean", "osClean", clean),
    ("ext", "osExt", extension),
    ("isAbs", "osIsAbs", |path: &[u8]| Flag(path.starts_with(b"/"))),
);
