//! Values with Go's types.

mod chart;
mod container;
mod convert;
mod special;

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

pub(crate) use chart::{Files, Struct};
pub(crate) use container::ListType;
pub use container::{List, Map};
pub use convert::ConvertError;
pub(crate) use special::{MONTHS, Named, WEEKDAYS};

use crate::gotemplate::datetime::DateTime;

/// A value of a template. Lists and maps are shared: a clone refers to the same elements, as in Go. A value stays in its thread; make it
/// from JSON where templates are rendered.
#[derive(Clone, Debug)]
pub enum Value {
    /// `nil`
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `int64`
    Int64(i64),
    /// `uint8`, a byte of a string
    Byte(u8),
    /// `uint64`
    Unsigned(u64),
    /// `float64`, also every number of JSON
    Float(f64),
    /// `string`
    String(Str),
    /// A list.
    List(List),
    /// A map with string keys.
    Map(Map),
    /// A value of another Go type, such as a date.
    Special(Special),
}

/// A value of a type with methods: a date, a duration, a version.
#[derive(Clone, Debug)]
pub struct Special(pub(crate) Named);

/// A string of any bytes, as in Go.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str(Rc<[u8]>);

impl Str {
    /// Returns the string with invalid UTF-8 replaced by U+FFFD.
    pub fn lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl Deref for Str {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.lossy())
    }
}

impl From<&str> for Str {
    fn from(string: &str) -> Self {
        Self(string.as_bytes().into())
    }
}

impl From<&[u8]> for Str {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<String> for Str {
    fn from(string: String) -> Self {
        Self(string.into_bytes().into())
    }
}

impl From<Vec<u8>> for Str {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl<S: Into<Str>> From<S> for Value {
    fn from(string: S) -> Self {
        Self::String(string.into())
    }
}

impl Value {
    pub(crate) fn date(date: DateTime) -> Self {
        Self::Special(Special(Named::Date(date)))
    }

    pub(crate) fn named(named: Named) -> Self {
        Self::Special(Special(named))
    }

    /// Returns the name of the Go type, as `%T` prints it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Int64(_) => "int64",
            Self::Byte(_) => "uint8",
            Self::Unsigned(_) => "uint64",
            Self::Float(_) => "float64",
            Self::String(_) => "string",
            Self::List(list) => list.list_type().name(),
            Self::Map(map) => map.type_name(),
            Self::Special(special) => special.0.type_name(),
        }
    }

    /// Returns the name of the Go kind, as `reflect.Kind` prints it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "invalid",
            Self::List(_) => "slice",
            Self::Map(_) => "map",
            Self::Special(special) => special.0.kind(),
            basic => basic.type_name(),
        }
    }

    /// Returns whether the value is true in a condition: not the zero of its type, and not empty.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) | Self::Int64(value) => *value != 0,
            Self::Byte(value) => *value != 0,
            Self::Unsigned(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::String(value) => !value.is_empty(),
            Self::List(list) => list.len() > 0,
            Self::Map(map) => map.len() > 0,
            Self::Special(special) => !special.0.is_empty(),
        }
    }

    /// Returns the number of a signed integer.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Int(value) | Self::Int64(value) => Some(*value),
            Self::Special(special) => special.0.integer(),
            _ => None,
        }
    }

    /// Returns the number of an unsigned integer.
    pub(crate) fn as_unsigned(&self) -> Option<u64> {
        match self {
            Self::Byte(value) => Some((*value).into()),
            Self::Unsigned(value) => Some(*value),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
