//! Errors of arguments, in Helm's words.

use tiphys_go::strconv::quote;

use super::{INDEX_MAX, LEVELS_MAX};
use crate::go_text::quoted_characters;

/// Errors of an argument of `--set` or a similar option. The messages are Helm's, except for limits that Helm does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// A name without an equals sign.
    #[error("key {} has no value", quote(key))]
    NoValue {
        /// The last key of the name.
        key: String,
    },
    /// A name with a comma instead of an equals sign.
    #[error("key {} has no value (cannot end with ,)", quote(key))]
    NoValueBeforeComma {
        /// The last key of the name.
        key: String,
    },
    /// A dot without a name after it.
    #[error("key map {} has no value", quote(key))]
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
    /// An index that is not an integer.
    #[error("error parsing index: strconv.Atoi: parsing {}: invalid syntax", quote(text))]
    IndexSyntax {
        /// The string between the brackets.
        text: String,
    },
    /// An index that exceeds 64 bits.
    #[error("error parsing index: strconv.Atoi: parsing {}: value out of range", quote(text))]
    IndexRange {
        /// The string between the brackets.
        text: String,
    },
    /// A negative index.
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
    /// Something other than a dot, a bracket or an equals sign after an index.
    #[error("unexpected data at end of array index: {}", quoted_characters(text))]
    TextAfterIndex {
        /// The rest of the argument.
        text: String,
    },
    /// More than [`LEVELS_MAX`] dots in a name.
    #[error("value name nested level is greater than maximum supported nested level of {LEVELS_MAX}")]
    TooManyLevels,
    /// The name leads into a value that is not an object or a list.
    #[error("unable to parse key: interface conversion: interface {{}} is {found}, not {wanted}")]
    OtherType {
        /// The type of the value, as Go names it.
        found: &'static str,
        /// The required type, as Go names it.
        wanted: &'static str,
    },
    /// The file of `--set-file` cannot be read.
    #[error("{problem}")]
    File {
        /// Its path, as written.
        path: String,
        /// The error message of its reader.
        problem: String,
    },
    /// More indexes in one name than [`crate::Limits::indexes_max`].
    #[error("the name has more than {max} indexes")]
    TooManyIndexes {
        /// The limit.
        max: usize,
    },
    /// More items are added to lists than [`crate::Limits::added_items_max`].
    #[error("the assignments add more than {max} items to lists")]
    TooManyItems {
        /// The limit.
        max: usize,
    },
}
