//! Why an argument cannot be applied, in Helm's words.

use super::{INDEX_MAX, LEVELS_MAX};
use crate::go_text::{quoted, quoted_characters};

/// Why an argument of `--set` or of a relative cannot be applied. The texts are Helm's, but of the bounds that Helm does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// A name without an equals sign.
    #[error("key {} has no value", quoted(key))]
    NoValue {
        /// The last key of the name.
        key: String,
    },
    /// A name with a comma where its equals sign should be.
    #[error("key {} has no value (cannot end with ,)", quoted(key))]
    NoValueBeforeComma {
        /// The last key of the name.
        key: String,
    },
    /// A dot without a name behind it.
    #[error("key map {} has no value", quoted(key))]
    EmptyMap {
        /// The key before the dot.
        key: String,
    },
    /// A list in braces that is not closed.
    #[error("list must terminate with '}}'")]
    OpenList,
    /// An index that is not closed (Helm 3; Helm 4 takes it for the end).
    #[error("error parsing index: EOF")]
    OpenIndex,
    /// An index that is no whole number.
    #[error("error parsing index: strconv.Atoi: parsing {}: invalid syntax", quoted(text))]
    IndexSyntax {
        /// What stands between the brackets.
        text: String,
    },
    /// An index that does not fit 64 bits.
    #[error("error parsing index: strconv.Atoi: parsing {}: value out of range", quoted(text))]
    IndexRange {
        /// What stands between the brackets.
        text: String,
    },
    /// An index below zero.
    #[error("negative {index} index not allowed")]
    NegativeIndex {
        /// The index.
        index: i64,
    },
    /// An index above [`INDEX_MAX`].
    #[error("index of {index} is greater than maximum supported index of {INDEX_MAX}")]
    IndexTooLarge {
        /// The index.
        index: usize,
    },
    /// Something else than a dot, a bracket or an equals sign behind an index.
    #[error("unexpected data at end of array index: {}", quoted_characters(text))]
    TextAfterIndex {
        /// What stands there.
        text: String,
    },
    /// More than [`LEVELS_MAX`] dots in a name.
    #[error("value name nested level is greater than maximum supported nested level of {LEVELS_MAX}")]
    TooManyLevels,
    /// The name leads into a value that is no object, or no list.
    #[error("unable to parse key: interface conversion: interface {{}} is {found}, not {wanted}")]
    OtherType {
        /// The type of the value, as Go names it.
        found: &'static str,
        /// The type that the name asks for, as Go names it.
        wanted: &'static str,
    },
    /// The file of `--set-file` cannot be read.
    #[error("{problem}")]
    File {
        /// Its path, as it was written.
        path: String,
        /// Why, in the words of who was to read it.
        problem: String,
    },
    /// The value of `--set-json` is no JSON.
    #[error("the value is no JSON: {problem}")]
    Json {
        /// What is wrong with it.
        problem: String,
    },
    /// More indexes in one name than [`crate::Limits::indexes_max`].
    #[error("the name has more than {max} indexes")]
    TooManyIndexes {
        /// The bound.
        max: usize,
    },
    /// More items are added to lists than [`crate::Limits::added_items_max`].
    #[error("the assignments add more than {max} items to lists")]
    TooManyItems {
        /// The bound.
        max: usize,
    },
}
