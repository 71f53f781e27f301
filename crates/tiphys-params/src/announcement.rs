//! Announcements: what a plugin says that it accepts.

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

/// How a parameter's value (or each of its items) is to be understood; anything unknown is a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemType {
    /// Any text; the original word is kept for the wire.
    String(String),
    /// An exact decimal number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A text that stands for a value of one of these types: several, or a list or an object alone. What one word says for itself is never
    /// said so ([`ItemType::of`]). Argo CD, which looks at no word of `itemType`, hands it on, and who does not know it takes it for a text.
    OneOf(Types),
}

/// Which of the value's fields a parameter uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionType {
    /// Not given; means [`CollectionType::String`].
    Absent,
    /// A single text.
    String,
    /// A list of texts.
    Array,
    /// A map from text to text.
    Map,
}

/// One announced parameter. Its name is never empty, and its collection type is always a known one.
///
/// Its JSON form (serde, writing only) is the one of Argo CD's REST API: empty fields are left out (`spec/cmp.md` 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Name, never empty.
    pub name: String,
    /// Human-readable name.
    pub title: Option<String>,
    /// Explanation.
    pub tooltip: Option<String>,
    /// Whether a value must be set (an announced default satisfies it).
    pub required: Option<bool>,
    /// Type of the value or of each item, if it was given.
    pub item_type: Option<ItemType>,
    /// Which field of the default counts.
    pub collection_type: CollectionType,
    /// The announced defaults, all that were given; [`Announcement::default_value`] chooses.
    pub string: Option<String>,
    /// See `string`.
    pub array: Option<Vec<String>>,
    /// See `string`.
    pub map: Option<BTreeMap<String, String>>,
    /// The texts to choose from; empty means free.
    pub choices: Vec<String>,
}

/// The default that counts, by the collection type (proposal Q/A 1 and 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Default<'a> {
    /// A text.
    String(&'a str),
    /// A list.
    Array(&'a [String]),
    /// A map.
    Map(&'a BTreeMap<String, String>),
}

impl Announcement {
    /// An announcement of a text with nothing but a name, which must not be empty.
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

    /// The default that counts: only the field of the collection type is looked at.
    pub fn default_value(&self) -> Option<Default<'_>> {
        match self.collection_type {
            CollectionType::Absent | CollectionType::String => self.string.as_deref().map(Default::String),
            CollectionType::Array => self.array.as_deref().map(Default::Array),
            CollectionType::Map => self.map.as_ref().map(Default::Map),
        }
    }

    /// The fields of defaults that are given and ignored, since the collection type names another one (proposal Q/A 1 and 4).
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
    /// The item type of values that have one of these types.
    pub fn of(types: Types) -> Self {
        let mut each = types.iter();
        match (each.next(), each.next()) {
            (Some(JsonType::String), None) => Self::String(JsonType::String.word().to_owned()),
            (Some(JsonType::Integer | JsonType::Number), None) => Self::Number,
            (Some(JsonType::Boolean), None) => Self::Boolean,
            _ => Self::OneOf(types),
        }
    }

    /// Reads the word of `itemType`; the empty one is none. Of single words only the proposal's mean something, and those for lists and
    /// objects, of which nothing is checked either.
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

    /// The word of `itemType`.
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
    /// Reads the word of `collectionType`; `None` if it is not a known one. The empty word is [`CollectionType::Absent`].
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "" => Some(Self::Absent),
            "string" => Some(Self::String),
            "array" => Some(Self::Array),
            "map" => Some(Self::Map),
            _ => None,
        }
    }

    /// The word of `collectionType`; empty if it was not given.
    pub fn word(self) -> &'static str {
        match self {
            Self::Absent => "",
            Self::String => "string",
            Self::Array => "array",
            Self::Map => "map",
        }
    }

    /// The field of a parameter that holds its value.
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
