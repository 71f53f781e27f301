//! One argument of `--set` or a similar option: parses it and applies it to the values.
//!
//! An argument is a comma-separated list of assignments `NAME=VALUE`. Each is applied while it is parsed, to the result of the previous
//! one. A name leads through objects (`a.b`) and lists (`a[0]`), which are created if missing. Helm's special cases are preserved, since a
//! displayed value must be the effective one. An empty key is followed but never set. The end of the string in a name silently ends the
//! argument. A list or object is stored only when its content is complete.

mod error;
#[cfg(test)]
mod tests;
mod typed;

use std::collections::btree_map;

use crate::go_text::{NotANumber, whole_number};
use crate::merge::{Flag, ReadFile};
use crate::scan::Scanner;
use crate::value::{GO_LIST, GO_MAP};
use crate::{HelmVersion, Map, Value};

pub use error::SetError;
pub use typed::typed_scalar;

/// The highest index that Helm accepts.
pub const INDEX_MAX: usize = 65_536;
/// Maximum number of dots in a name that Helm follows.
pub const LEVELS_MAX: usize = 30;

/// Limits that Helm does not have: otherwise an argument of a few kilobytes could require any amount of memory and stack.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Indexes in one name.
    pub indexes_max: usize,
    /// Items that the assignments of one command line may add to lists by index, including the nulls before them.
    pub added_items_max: usize,
}

/// The default limits.
pub const LIMITS: Limits = Limits { indexes_max: 64, added_items_max: 1 << 20 };

/// State of a whole command line.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) version: HelmVersion,
    pub(crate) read_file: &'a ReadFile<'a>,
    pub(crate) limits: Limits,
}

/// Applies the assignments of one argument in order, and counts the items that they add to lists. After an error the values are
/// unspecified.
pub(crate) fn apply(
    flag: Flag,
    text: &str,
    values: &mut Map,
    rules: Rules<'_>,
    added_items: &mut usize,
) -> Result<(), SetError> {
    let mut argument = Argument { scanner: Scanner::new(text), flag, rules, added_items };
    loop {
        if argument.assignment(values, Depth::default())? == Flow::Ends {
            return Ok(());
        }
    }
}

/// Whether there may be more to parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// Something was set; another assignment may follow.
    Goes,
    /// The string has ended. Parents do not store what they have created.
    Ends,
}

/// Length of the name so far.
#[derive(Clone, Copy, Debug, Default)]
struct Depth {
    dots: usize,
    indexes: usize,
}

struct Argument<'a> {
    scanner: Scanner<'a>,
    flag: Flag,
    rules: Rules<'a>,
    added_items: &'a mut usize,
}

impl Argument<'_> {
    /// Parses an assignment below an object.
    fn assignment(&mut self, map: &mut Map, depth: Depth) -> Result<Flow, SetError> {
        let (key, stop) = self.scanner.until(&['=', '[', ',', '.']);
        match stop {
            None if key.is_empty() => Ok(Flow::Ends),
            None => Err(SetError::NoValue { key }),
            Some('=') => {
                let (value, flow) = self.value()?;
                set(map, key, value);
                Ok(flow)
            }
            Some('[') => self.list_at(map, key, depth),
            Some('.') => self.map_at(map, key, depth),
            Some(_) => Err(SetError::NoValueBeforeComma { key }),
        }
    }

    /// Follows a dot into an existing or new object.
    fn map_at(&mut self, map: &mut Map, key: String, depth: Depth) -> Result<Flow, SetError> {
        let depth = Depth { dots: depth.dots + 1, ..depth };
        if depth.dots > LEVELS_MAX {
            return Err(SetError::TooManyLevels);
        }
        match map.entry(key) {
            btree_map::Entry::Occupied(mut entry) => {
                let Value::Map(inner) = entry.get_mut() else { return Err(not(GO_MAP, entry.get())) };
                let flow = self.assignment(inner, depth)?;
                if sets_nothing(inner, flow) {
                    return Err(SetError::EmptyMap { key: entry.key().clone() });
                }
                Ok(flow)
            }
            btree_map::Entry::Vacant(entry) => {
                let mut inner = Map::new();
                let flow = self.assignment(&mut inner, depth)?;
                if sets_nothing(&inner, flow) {
                    return Err(SetError::EmptyMap { key: entry.into_key() });
                }
                if !inner.is_empty() && !entry.key().is_empty() {
                    entry.insert(Value::Map(inner));
                }
                Ok(flow)
            }
        }
    }

    /// Follows a bracket after a key into an existing list or a new one, which stays even if the string ends.
    fn list_at(&mut self, map: &mut Map, key: String, depth: Depth) -> Result<Flow, SetError> {
        let Some(index) = self.index()? else { return Ok(Flow::Ends) };
        match map.entry(key) {
            btree_map::Entry::Occupied(mut entry) => {
                let may_grow = !entry.key().is_empty();
                let Value::List(list) = entry.get_mut() else { return Err(not(GO_LIST, entry.get())) };
                let length = list.len();
                let flow = self.item(list, index, depth)?;
                if !may_grow {
                    // Nothing is set under an empty key: only changes in existing items stay.
                    list.truncate(length);
                }
                Ok(flow)
            }
            btree_map::Entry::Vacant(entry) => {
                let mut list = Vec::new();
                let flow = self.item(&mut list, index, depth)?;
                if !entry.key().is_empty() {
                    entry.insert(Value::List(list));
                }
                Ok(flow)
            }
        }
    }

    /// Parses what follows the index of an item. The list grows only if something is set.
    fn item(&mut self, list: &mut Vec<Value>, index: i64, depth: Depth) -> Result<Flow, SetError> {
        let depth = Depth { indexes: depth.indexes + 1, ..depth };
        if depth.indexes > self.rules.limits.indexes_max {
            return Err(SetError::TooManyIndexes { max: self.rules.limits.indexes_max });
        }
        let index = usize::try_from(index).map_err(|_| SetError::NegativeIndex { index })?;
        let (text, stop) = self.scanner.until(&['[', '.', '=']);
        if !text.is_empty() {
            return Err(SetError::TextAfterIndex { text });
        }
        match stop {
            None => Ok(Flow::Ends),
            Some('=') => {
                // The next assignment detects the end: an empty value is set here.
                let (value, _) = self.value()?;
                self.place(list, index, value)?;
                Ok(Flow::Goes)
            }
            Some('[') => self.list_in(list, index, depth),
            Some(_) => self.map_in(list, index, depth),
        }
    }

    /// Follows a bracket after an index.
    fn list_in(&mut self, list: &mut Vec<Value>, index: usize, depth: Depth) -> Result<Flow, SetError> {
        let Some(next) = self.index()? else { return Ok(Flow::Ends) };
        match list.get_mut(index) {
            Some(Value::List(inner)) => {
                let flow = self.item(inner, next, depth)?;
                check_index(index, flow)
            }
            None | Some(Value::Null) => {
                let mut inner = Vec::new();
                let flow = self.item(&mut inner, next, depth)?;
                if flow == Flow::Goes {
                    self.place(list, index, Value::List(inner))?;
                }
                Ok(flow)
            }
            Some(other) => Err(not(GO_LIST, other)),
        }
    }

    /// Follows a dot after an index. Anything but an object is replaced by one at once.
    fn map_in(&mut self, list: &mut Vec<Value>, index: usize, depth: Depth) -> Result<Flow, SetError> {
        let Some(item) = list.get_mut(index) else {
            let mut inner = Map::new();
            let flow = self.assignment(&mut inner, depth)?;
            if flow == Flow::Goes {
                self.place(list, index, Value::Map(inner))?;
            }
            return Ok(flow);
        };
        if !matches!(item, Value::Map(_)) {
            *item = Value::Map(Map::new());
        }
        let Value::Map(inner) = item else { return Err(not(GO_MAP, item)) };
        let flow = self.assignment(inner, depth)?;
        check_index(index, flow)
    }

    /// Stores a value in a list, and fills the gap before it with nulls.
    fn place(&mut self, list: &mut Vec<Value>, index: usize, value: Value) -> Result<(), SetError> {
        check_index(index, Flow::Goes)?;
        if let Some(item) = list.get_mut(index) {
            *item = value;
            return Ok(());
        }
        *self.added_items += index + 1 - list.len();
        if *self.added_items > self.rules.limits.added_items_max {
            return Err(SetError::TooManyItems { max: self.rules.limits.added_items_max });
        }
        list.resize(index, Value::Null);
        list.push(value);
        Ok(())
    }

    /// Parses an index and its closing bracket; `None` if the string ends before that.
    fn index(&mut self) -> Result<Option<i64>, SetError> {
        let (text, closing) = self.scanner.until(&[']']);
        if closing.is_none() {
            return match self.rules.version {
                HelmVersion::V3 => Err(SetError::OpenIndex),
                HelmVersion::V4 => Ok(None),
            };
        }
        whole_number(&text).map(Some).map_err(|problem| match problem {
            NotANumber::Syntax => SetError::IndexSyntax { text },
            NotANumber::Range => SetError::IndexRange { text },
        })
    }

    /// Parses a value up to the next comma, or a list in braces; [`Flow::Ends`] if nothing follows the equals sign.
    fn value(&mut self) -> Result<(Value, Flow), SetError> {
        if self.scanner.rest().is_empty() {
            return Ok((Value::Text(String::new()), Flow::Ends));
        }
        if !self.scanner.take('{') {
            let (text, _) = self.scanner.until(&[',']);
            return Ok((self.read_as_flag_says(text)?, Flow::Goes));
        }
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.scanner.until(&[',', '}']);
            if stop.is_none() {
                return Err(SetError::OpenList);
            }
            items.push(self.read_as_flag_says(text)?);
            if stop == Some('}') {
                // Without a comma, the rest is the next assignment all the same.
                self.scanner.take(',');
                return Ok((Value::List(items), Flow::Goes));
            }
        }
    }

    fn read_as_flag_says(&self, text: String) -> Result<Value, SetError> {
        match self.flag {
            Flag::Set => Ok(typed_scalar(text)),
            Flag::SetFile => match (self.rules.read_file)(&text) {
                Ok(content) => Ok(Value::Text(content)),
                Err(problem) => Err(SetError::File { path: text, problem }),
            },
            Flag::SetString => Ok(Value::Text(text)),
        }
    }
}

/// Sets a key, unless it is empty.
fn set(map: &mut Map, key: String, value: Value) {
    if !key.is_empty() {
        map.insert(key, value);
    }
}

/// Whether an object is still empty after an assignment in it: its key had a dot without a name after it.
fn sets_nothing(inner: &Map, flow: Flow) -> bool {
    flow == Flow::Goes && inner.is_empty()
}

/// Lists of files may be longer than Helm's highest index.
fn check_index(index: usize, flow: Flow) -> Result<Flow, SetError> {
    if flow == Flow::Goes && index > INDEX_MAX {
        return Err(SetError::IndexTooLarge { index });
    }
    Ok(flow)
}

fn not(wanted: &'static str, found: &Value) -> SetError {
    SetError::OtherType { found: found.go_type(), wanted }
}
