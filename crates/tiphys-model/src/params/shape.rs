//! The three kinds of parameter values: string, list of strings, map of strings.

use crate::params::{CollectionType, ParameterValue};

/// The kind of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A single string.
    Single,
    /// A list of strings.
    List,
    /// A map from strings to strings.
    Map,
}

impl Shape {
    /// Returns the kind for a collection type.
    pub fn of(collection_type: CollectionType) -> Self {
        match collection_type {
            CollectionType::Absent | CollectionType::String => Self::Single,
            CollectionType::Array => Self::List,
            CollectionType::Map => Self::Map,
        }
    }

    /// Returns the kind of a value.
    pub fn of_value(value: &ParameterValue) -> Self {
        match value {
            ParameterValue::String(_) => Self::Single,
            ParameterValue::Array(_) => Self::List,
            ParameterValue::Map(_) => Self::Map,
        }
    }

    /// Returns the parameter's field for this kind.
    pub fn field(self) -> &'static str {
        match self {
            Self::Single => "string",
            Self::List => "array",
            Self::Map => "map",
        }
    }

    /// Returns a description with an article.
    pub fn words(self) -> &'static str {
        match self {
            Self::Single => "a string",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}
