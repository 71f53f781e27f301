//! Values with their static types, as Go's package `reflect` has them.

use crate::gotemplate::value::{List, Map, Value};

/// A `reflect.Value`: which errors occur depends on whether a value is known to be of its type, or only to be of some type.
#[derive(Clone, Debug)]
pub(crate) enum Reflected {
    /// There is no previous command in the pipeline.
    Missing,
    /// The zero `reflect.Value`, printed as `<no value>`.
    Invalid,
    /// A value of its own type.
    Plain(Value),
    /// A value of type `interface {}`, which may be nil.
    Interface(Value),
}

impl Reflected {
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Returns the name of the static type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Plain(value) => value.type_name(),
            _ => "interface {}",
        }
    }

    /// Returns the value within an interface; a nil one is invalid.
    pub(crate) fn unwrapped(self) -> Self {
        match self {
            Self::Interface(Value::Nil) => Self::Invalid,
            Self::Interface(value) => Self::Plain(value),
            other => other,
        }
    }

    /// Returns the value, `nil` if there is none.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Missing | Self::Invalid => Value::Nil,
            Self::Plain(value) | Self::Interface(value) => value.clone(),
        }
    }

    /// Returns an element of a list.
    pub(crate) fn element(list: &List, value: Value) -> Self {
        if list.has_any() { Self::Interface(value) } else { Self::Plain(value) }
    }

    /// Returns an element of a map.
    pub(crate) fn entry(map: &Map, value: Value) -> Self {
        if map.holds_strings() { Self::Plain(value) } else { Self::Interface(value) }
    }

    /// Returns the zero of the element type of a map.
    pub(crate) fn zero_entry(map: &Map) -> Self {
        if map.holds_strings() { Self::Plain("".into()) } else { Self::Interface(Value::Nil) }
    }
}
