//! Announcements: what a plugin says that it accepts.

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
    /// The default that counts: only the field of the collection type is looked at.
    pub fn default_value(&self) -> Option<Default<'_>> {
        match self.collection_type {
            CollectionType::Absent | CollectionType::String => self.string.as_deref().map(Default::String),
            CollectionType::Array => self.array.as_deref().map(Default::Array),
            CollectionType::Map => self.map.as_ref().map(Default::Map),
        }
    }
}
