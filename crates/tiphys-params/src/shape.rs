//! The three kinds of values: a text, a list of texts, a map of texts.

use crate::{CollectionType, ParameterValue};

/// How many values a parameter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One.
    Single,
    /// A list of them.
    List,
    /// A map from texts to them.
    Map,
}

impl Shape {
    /// What a collection type announces.
    pub fn of(collection_type: CollectionType) -> Self {
        match collection_type {
            CollectionType::Absent | CollectionType::String => Self::Single,
            CollectionType::Array => Self::List,
            CollectionType::Map => Self::Map,
        }
    }

    /// What a value is.
    pub fn of_value(value: &ParameterValue) -> Self {
        match value {
            ParameterValue::String(_) => Self::Single,
            ParameterValue::Array(_) => Self::List,
            ParameterValue::Map(_) => Self::Map,
        }
    }

    /// The field of a parameter that holds such a value.
    pub fn field(self) -> &'static str {
        match self {
            Self::Single => "string",
            Self::List => "array",
            Self::Map => "map",
        }
    }

    /// The kind of value in words, with an article.
    pub fn words(self) -> &'static str {
        match self {
            Self::Single => "a text",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}
