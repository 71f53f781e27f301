//! Names of values, as the left side of `--set` has them.

#[cfg(test)]
mod tests;

use crate::go_text::whole_number;
use crate::scan::{Backslash, Scanner};
use crate::{INDEX_MAX, LEVELS_MAX, LIMITS};

/// One step from the root of the values to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathItem {
    /// Into an object, by its key as it is, without escapes.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
}

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// A key is empty, which Helm sets in silence to nothing.
    #[error(
        "the name {name:?} has an empty key; write a key before each dot and bracket, and behind each dot"
    )]
    EmptyKey {
        /// The whole name.
        name: String,
    },
    /// A sign that ends a name stands inside.
    #[error("the name {name:?} has {sign:?}, which ends a name; write \\{sign} if it belongs to a key")]
    Ends {
        /// The whole name.
        name: String,
        /// The sign.
        sign: char,
    },
    /// An index is no number from 0 to [`INDEX_MAX`], has no closing bracket, or text behind it.
    #[error("the name {name:?} has an index that is no number from 0 to {INDEX_MAX} in brackets")]
    Index {
        /// The whole name.
        name: String,
    },
    /// More than [`LEVELS_MAX`] dots, or more indexes than [`LIMITS`] allow.
    #[error("the name {name:?} has more than {LEVELS_MAX} dots or {} indexes, and no more are followed", LIMITS.indexes_max)]
    Levels {
        /// The whole name.
        name: String,
    },
}

/// The name with which `--set NAME=VALUE` sets the value at exactly this path. `None` if no name does: a path that is empty, begins
/// with an index, has an empty key, an index above [`INDEX_MAX`], more than [`LEVELS_MAX`] keys below the first, or more indexes than
/// [`LIMITS`] allow.
pub fn escape_name(path: &[PathItem]) -> Option<String> {
    let mut name = String::new();
    let (mut keys, mut indexes) = (0, 0);
    for item in path {
        match item {
            PathItem::Key(key) if key.is_empty() || keys > LEVELS_MAX => return None,
            PathItem::Key(key) => {
                if keys > 0 {
                    name.push('.');
                }
                keys += 1;
                for char in key.chars() {
                    if is_special(char) {
                        name.push('\\');
                    }
                    name.push(char);
                }
            }
            PathItem::Index(index) => {
                indexes += 1;
                if keys == 0 || *index > INDEX_MAX || indexes > LIMITS.indexes_max {
                    return None;
                }
                name.push('[');
                name.push_str(&index.to_string());
                name.push(']');
            }
        }
    }
    (keys > 0).then_some(name)
}

/// The path that a name stands for. Stricter than Helm: a name that sets nothing, or leads through an empty key, is an error.
pub fn parse_name(name: &str) -> Result<Vec<PathItem>, NameError> {
    let mut path = Vec::new();
    let mut scanner = Scanner::new(name);
    loop {
        let (key, mut stop) = scanner.until(&KEY_ENDS, Backslash::Escapes);
        if key.is_empty() {
            return Err(NameError::EmptyKey { name: name.to_owned() });
        }
        path.push(PathItem::Key(key));
        while stop == Some('[') {
            let index = index(&mut scanner).ok_or_else(|| NameError::Index { name: name.to_owned() })?;
            path.push(PathItem::Index(index));
            let (text, next) = scanner.until(&KEY_ENDS, Backslash::Escapes);
            if !text.is_empty() {
                return Err(NameError::Index { name: name.to_owned() });
            }
            stop = next;
        }
        match stop {
            None => break,
            Some('.') => {}
            Some(sign) => return Err(NameError::Ends { name: name.to_owned(), sign }),
        }
    }
    let keys = path.iter().filter(|item| matches!(item, PathItem::Key(_))).count();
    if keys > LEVELS_MAX + 1 || path.len() - keys > LIMITS.indexes_max {
        return Err(NameError::Levels { name: name.to_owned() });
    }
    Ok(path)
}

/// Reads the rest of an index behind its bracket.
fn index(scanner: &mut Scanner<'_>) -> Option<usize> {
    let (digits, closing) = scanner.until(&[']'], Backslash::Escapes);
    closing?;
    let number = usize::try_from(whole_number(&digits).ok()?).ok()?;
    (number <= INDEX_MAX).then_some(number)
}

/// The signs that end a key.
const KEY_ENDS: [char; 4] = ['=', '[', ',', '.'];

/// The signs that mean something in a name, and are taken as they are behind a backslash.
fn is_special(char: char) -> bool {
    char == '\\' || KEY_ENDS.contains(&char)
}
