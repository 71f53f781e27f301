//! Names of values: the left side of `--set`.

#[cfg(test)]
mod tests;

use crate::go_text::whole_number;
use crate::scan::Scanner;
use crate::{INDEX_MAX, LEVELS_MAX, LIMITS};

/// One step from the root of the values to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathItem {
    /// A key of an object, without escapes.
    Key(String),
    /// An index of a list, from 0.
    Index(usize),
}

/// Errors of parsing a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// A key is empty, which Helm ignores without an error.
    #[error(
        "the name {name:?} has an empty key; write a key before each dot and bracket, and after each dot"
    )]
    EmptyKey {
        /// The whole name.
        name: String,
    },
    /// An unescaped character that ends a name.
    #[error("the name {name:?} has {sign:?}, which ends a name; write \\{sign} if it belongs to a key")]
    Ends {
        /// The whole name.
        name: String,
        /// The character.
        sign: char,
    },
    /// An index is not a number from 0 to [`INDEX_MAX`], or its brackets are malformed.
    #[error("the name {name:?} has an invalid index; write a number from 0 to {INDEX_MAX} in brackets")]
    Index {
        /// The whole name.
        name: String,
    },
    /// More than [`LEVELS_MAX`] dots, or more indexes than [`LIMITS`] allow.
    #[error("the name {name:?} has more than {LEVELS_MAX} dots or {} indexes, the limit", LIMITS.indexes_max)]
    Levels {
        /// The whole name.
        name: String,
    },
}

/// Returns the name with which `--set NAME=VALUE` sets the value at exactly this path. `None` without such a name: the path is empty,
/// starts with an index, or has an empty key, an index above [`INDEX_MAX`], more than [`LEVELS_MAX`] keys below the first, or more indexes
/// than [`LIMITS`] permit.
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

/// Parses a name. Stricter than Helm: a name that sets nothing, or contains an empty key, is an error.
pub fn parse_name(name: &str) -> Result<Vec<PathItem>, NameError> {
    let mut path = Vec::new();
    let mut scanner = Scanner::new(name);
    loop {
        let (key, mut stop) = scanner.until(&KEY_ENDS);
        if key.is_empty() {
            return Err(NameError::EmptyKey { name: name.to_owned() });
        }
        path.push(PathItem::Key(key));
        while stop == Some('[') {
            let index = index(&mut scanner).ok_or_else(|| NameError::Index { name: name.to_owned() })?;
            path.push(PathItem::Index(index));
            let (text, next) = scanner.until(&KEY_ENDS);
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

/// Reads the rest of an index after its bracket.
fn index(scanner: &mut Scanner<'_>) -> Option<usize> {
    let (digits, closing) = scanner.until(&[']']);
    closing?;
    let number = usize::try_from(whole_number(&digits).ok()?).ok()?;
    (number <= INDEX_MAX).then_some(number)
}

/// Characters that end a key.
const KEY_ENDS: [char; 4] = ['=', '[', ',', '.'];

/// Characters with a meaning in a name, which a backslash escapes.
fn is_special(char: char) -> bool {
    char == '\\' || KEY_ENDS.contains(&char)
}
