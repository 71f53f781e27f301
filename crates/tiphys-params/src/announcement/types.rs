//! Several types that a value may have.

use std::fmt;

/// A type of JSON, by the name that JSON schemas give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    /// A text.
    String,
    /// A number without a fraction.
    Integer,
    /// Any number; whole ones are among them.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// Types of which a value has one; there is one of them at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u8);

/// What stands between the words of several types.
const BETWEEN: char = '|';

impl JsonType {
    /// All of them, in the order in which several are written.
    pub const ALL: [Self; 7] =
        [Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object, Self::Null];

    /// Reads a name; `None` if no type has it.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    /// The name.
    pub fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// The type in words, with an article where it has one.
    pub fn words(self) -> &'static str {
        match self {
            Self::String => "a text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
            Self::Array => "a list",
            Self::Object => "an object",
        }
    }

    /// With a number come whole ones, so that what both of two sets allow is in both.
    fn bits(self) -> u8 {
        match self {
            Self::Boolean => 1,
            Self::Integer => 1 << 1,
            Self::Number => (1 << 2) | (1 << 1),
            Self::String => 1 << 3,
            Self::Array => 1 << 4,
            Self::Object => 1 << 5,
            Self::Null => 1 << 6,
        }
    }
}

impl Types {
    /// These types; `None` if there are none.
    pub fn of(types: impl IntoIterator<Item = JsonType>) -> Option<Self> {
        Some(types.into_iter().fold(0, |bits, one| bits | one.bits())).filter(|bits| *bits != 0).map(Self)
    }

    /// Whether a value of this type is one of them.
    pub fn allow(self, one: JsonType) -> bool {
        self.0 & one.bits() == one.bits()
    }

    /// What is among these and among others; `None` if nothing is.
    pub fn and(self, other: Self) -> Option<Self> {
        Some(self.0 & other.0).filter(|bits| *bits != 0).map(Self)
    }

    /// What is among these or among others.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The types, without whole numbers where all numbers are meant.
    pub fn iter(self) -> impl Iterator<Item = JsonType> {
        let is_said = move |one: &JsonType| *one != JsonType::Integer || !self.allow(JsonType::Number);
        JsonType::ALL.into_iter().filter(move |one| self.allow(*one)).filter(is_said)
    }

    /// The types in words: `a whole number or null`.
    pub fn words(self) -> String {
        self.iter().map(JsonType::words).collect::<Vec<_>>().join(" or ")
    }

    /// Reads what [`Types`] are written as; `None` if a part is no type.
    pub(super) fn from_words(words: &str) -> Option<Self> {
        let types: Option<Vec<JsonType>> = words.split(BETWEEN).map(JsonType::from_word).collect();
        Self::of(types?)
    }
}

/// As announcements have them: `integer|string`.
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, one) in self.iter().enumerate() {
            write!(f, "{}{}", if place > 0 { "|" } else { "" }, one.word())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
