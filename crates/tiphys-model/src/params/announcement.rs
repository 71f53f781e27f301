//! Announcements: the parameters that a plugin accepts.

mod decode;
mod error;
mod json;
mod raw;
mod types;

pub use decode::{
    Announcements, DynamicOutputError, decode_announcement_entries, decode_announcements,
    decode_dynamic_output,
};
pub use error::{AnnouncementError, AnnouncementProblem, Place};
pub use raw::{AnnouncementEntry, IgnoredKey, IgnoredReason, RawAnnouncement};
pub use types::{JsonType, Types};

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Type of a parameter's value or of each item. Unknown types are strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemType {
    /// A string. The original word is preserved for serialization.
    String(String),
    /// An exact decimal number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A string that represents a value of one of several types, or a list or an object. Other single types have their own variant
    /// ([`ItemType::of`]). Argo CD passes `itemType` on unchanged; clients that do not know the word treat the value as a string.
    OneOf(Types),
}

/// The field of a parameter that has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CollectionType {
    /// Not set; same as [`CollectionType::String`].
    #[strum(serialize = "")]
    Absent,
    /// A string.
    String,
    /// A list of strings.
    Array,
    /// A map from strings to strings.
    Map,
}

/// An announced parameter. Its name is never empty, and its collection type is always a known one.
///
/// It serializes to the JSON of Argo CD's REST API, which omits empty fields. It cannot be deserialized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Non-empty name.
    pub name: String,
    /// Human-readable name.
    pub title: Option<String>,
    /// Description.
    pub tooltip: Option<String>,
    /// Whether a value must be set (an announced default satisfies it).
    pub required: Option<bool>,
    /// Type of the value or of each item, if announced.
    pub item_type: Option<ItemType>,
    /// Field that has the value and the default.
    pub collection_type: CollectionType,
    /// The announced defaults in all fields; [`Announcement::default_value`] returns the effective one.
    pub string: Option<String>,
    /// See `string`.
    pub array: Option<Vec<String>>,
    /// See `string`.
    pub map: Option<BTreeMap<String, String>>,
    /// The permitted values; empty if not restricted.
    pub choices: Vec<String>,
}

/// The default in the field of the collection type (proposal Q/A 1 and 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Default<'a> {
    /// A string.
    String(&'a str),
    /// A list.
    Array(&'a [String]),
    /// A map.
    Map(&'a BTreeMap<String, String>),
}

impl Announcement {
    /// Whether `null` is one of the announced types.
    pub fn is_nullable(&self) -> bool {
        matches!(self.item_type, Some(ItemType::OneOf(types)) if types.allow(JsonType::Null))
    }

    /// Returns an announcement of a string that only has a name, which must not be empty.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        debug_assert!(!name.is_empty(), "an announcement has a name");
        Self {
            name,
            title: None,
            tooltip: None,
            required: None,
            item_type: None,
            collection_type: CollectionType::Absent,
            string: None,
            array: None,
            map: None,
            choices: Vec::new(),
        }
    }

    /// Returns the default in the field of the collection type. Other fields are ignored.
    pub fn default_value(&self) -> Option<Default<'_>> {
        match self.collection_type {
            CollectionType::Absent | CollectionType::String => self.string.as_deref().map(Default::String),
            CollectionType::Array => self.array.as_deref().map(Default::Array),
            CollectionType::Map => self.map.as_ref().map(Default::Map),
        }
    }

    /// Returns the fields with a default that is ignored because the collection type names another field (proposal Q/A 1 and 4).
    pub fn ignored_defaults(&self) -> Vec<&'static str> {
        let counted = self.collection_type.field();
        let given =
            [("string", self.string.is_some()), ("array", self.array.is_some()), ("map", self.map.is_some())];
        given
            .into_iter()
            .filter(|(field, present)| *present && *field != counted)
            .map(|(field, _)| field)
            .collect()
    }
}

impl ItemType {
    /// Returns the item type of values with one of these types.
    pub fn of(types: Types) -> Self {
        let mut each = types.iter();
        match (each.next(), each.next()) {
            (Some(JsonType::String), None) => Self::String(JsonType::String.word().to_owned()),
            (Some(JsonType::Integer | JsonType::Number), None) => Self::Number,
            (Some(JsonType::Boolean), None) => Self::Boolean,
            _ => Self::OneOf(types),
        }
    }

    /// Parses `itemType`; `None` if it is empty. Of the single words, only `number`, `boolean`, `array` and `object` have an effect; items
    /// of the last two are not checked.
    pub fn from_word(word: &str) -> Option<Self> {
        let other = |word: &str| Self::String(word.to_owned());
        match word {
            "" => None,
            "number" => Some(Self::Number),
            "boolean" => Some(Self::Boolean),
            "string" | "integer" | "null" => Some(other(word)),
            words => Some(Types::from_words(words).map_or_else(|| other(words), Self::of)),
        }
    }

    /// Returns the word for `itemType`.
    pub fn word(&self) -> Cow<'_, str> {
        match self {
            Self::String(word) => Cow::Borrowed(word),
            Self::Number => Cow::Borrowed("number"),
            Self::Boolean => Cow::Borrowed("boolean"),
            Self::OneOf(types) => Cow::Owned(types.to_string()),
        }
    }
}

impl CollectionType {
    /// Parses `collectionType`; `None` if the word is unknown. The empty word is [`CollectionType::Absent`].
    pub fn from_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }

    /// Returns the word for `collectionType`; empty if not set.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the name of the field that has the value.
    pub fn field(self) -> &'static str {
        match self {
            Self::Absent | Self::String => "string",
            Self::Array => "array",
            Self::Map => "map",
        }
    }
}

#[cfg(test)]
mod tests;
