//! Sets of JSON types.

use std::fmt;

/// A JSON type, with its name in JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum JsonType {
    /// `true` or `false`.
    Boolean,
    /// An integer.
    Integer,
    /// Any number, including integers.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
    /// `null`.
    Null,
}

/// A non-empty set of types; a value has one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u8);

/// Separator of the words of several types.
const SEPARATOR: char = '|';

impl JsonType {
    /// All types, in the order in which they are written.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Parses a name; `None` if it is unknown.
    pub fn from_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }

    /// Returns the name.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns a description of the type, with an article if it needs one.
    pub fn words(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
            Self::Array => "a list",
            Self::Object => "an object",
        }
    }

    /// `number` includes `integer`, so that the intersection of sets is a bitwise AND.
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
    /// Returns the set of these types; `None` if there are none.
    pub fn of(types: impl IntoIterator<Item = JsonType>) -> Option<Self> {
        Some(types.into_iter().fold(0, |bits, one| bits | one.bits())).filter(|bits| *bits != 0).map(Self)
    }

    /// Whether the set permits a value of this type.
    pub fn allow(self, one: JsonType) -> bool {
        self.0 & one.bits() == one.bits()
    }

    /// Returns the intersection of two sets; `None` if it is empty.
    pub fn and(self, other: Self) -> Option<Self> {
        Some(self.0 & other.0).filter(|bits| *bits != 0).map(Self)
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Iterates over the types; `integer` is omitted if the set has `number`.
    pub fn iter(self) -> impl Iterator<Item = JsonType> {
        let is_listed = move |one: &JsonType| *one != JsonType::Integer || !self.allow(JsonType::Number);
        JsonType::ALL.iter().copied().filter(move |one| self.allow(*one)).filter(is_listed)
    }

    /// Returns a description such as `a whole number or null`.
    pub fn words(self) -> String {
        self.iter().map(JsonType::words).collect::<Vec<_>>().join(" or ")
    }

    /// Parses the form that [`Types`] prints; `None` if a part is not a type.
    pub(super) fn from_words(words: &str) -> Option<Self> {
        let types: Option<Vec<JsonType>> = words.split(SEPARATOR).map(JsonType::from_word).collect();
        Self::of(types?)
    }
}

/// The form in announcements, such as `integer|string`.
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { "|" } else { "" }, one.word())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
