//! One argument of `--set` or of a relative: its grammar, and what it does to the values.
//!
//! An argument is a list of assignments, `NAME=VALUE` with commas between. They take effect while they are read, each in the values that
//! the one before it left. A name leads through objects (`a.b`) and lists (`a[0]`), which are made where they are missing. Helm's
//! odd corners are kept, since a value that is shown has to be the one that holds: an empty key is followed but never set, the end of
//! the text inside a name ends the argument in silence, and a list or object is only put in its place when what is below it is complete.

mod error;
mod json;
#[cfg(test)]
mod tests;
mod typed;

use std::collections::btree_map;

use crate::go_text::{NotANumber, whole_number};
use crate::merge::{Flag, ReadFile};
use crate::scan::{Backslash, Scanner};
use crate::value::{GO_LIST, GO_MAP};
use crate::{HelmVersion, Map, Value};

pub use error::SetError;

/// The highest index that Helm takes.
pub const INDEX_MAX: usize = 65_536;
/// How many dots Helm follows in one name.
pub const LEVELS_MAX: usize = 30;

/// Bounds that Helm does not have: an argument of a few kilobytes may otherwise ask for any amount of memory and stack.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Indexes in one name.
    pub indexes_max: usize,
    /// Items that the assignments of one command line may add to lists by index, the nulls before them included.
    pub added_items_max: usize,
}

/// The bounds that are used where nobody says otherwise.
pub const LIMITS: Limits = Limits { indexes_max: 64, added_items_max: 1 << 20 };

/// What holds for a whole command line.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) version: HelmVersion,
    pub(crate) read_file: &'a ReadFile<'a>,
    pub(crate) limits: Limits,
}

/// Applies the assignments of one argument, in order, and counts the items that they add to lists. After an error the values are of no
/// use.
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

/// Whether there may be more to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// Something was set; the next assignment follows, if there is one.
    Goes,
    /// The text has ended. What is above does not set what it has made.
    Ends,
}

/// How far a name has led.
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
    /// Reads an assignment to something in an object.
    fn assignment(&mut self, map: &mut Map, depth: Depth) -> Result<Flow, SetError> {
        let stops: &[char] =
            if self.flag == Flag::SetLiteral { &['=', '[', '.'] } else { &['=', '[', ',', '.'] };
        let (key, stop) = self.scanner.until(stops, self.backslash());
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

    /// Follows a dot: into the object that is there, or into a new one.
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

    /// Follows a bracket behind a key: into the list that is there, or into a new one, which stays even where the text ends.
    fn list_at(&mut self, map: &mut Map, key: String, depth: Depth) -> Result<Flow, SetError> {
        let Some(index) = self.index()? else { return Ok(Flow::Ends) };
        match map.entry(key) {
            btree_map::Entry::Occupied(mut entry) => {
                let may_grow = !entry.key().is_empty();
                let Value::List(list) = entry.get_mut() else { return Err(not(GO_LIST, entry.get())) };
                let length = list.len();
                let flow = self.item(list, index, depth)?;
                if !may_grow {
                    // Nothing is set under an empty key: only what was changed within the list holds.
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

    /// Reads what stands behind the index of an item. The list grows only where something was set.
    fn item(&mut self, list: &mut Vec<Value>, index: i64, depth: Depth) -> Result<Flow, SetError> {
        let depth = Depth { indexes: depth.indexes + 1, ..depth };
        if depth.indexes > self.rules.limits.indexes_max {
            return Err(SetError::TooManyIndexes { max: self.rules.limits.indexes_max });
        }
        let index = usize::try_from(index).map_err(|_| SetError::NegativeIndex { index })?;
        let (text, stop) = self.scanner.until(&['[', '.', '='], self.backslash());
        if !text.is_empty() {
            return Err(SetError::TextAfterIndex { text });
        }
        match stop {
            None => Ok(Flow::Ends),
            Some('=') => {
                // That nothing follows is seen at the next assignment: an empty value is set here.
                let (value, _) = self.value()?;
                self.place(list, index, value)?;
                Ok(Flow::Goes)
            }
            Some('[') => self.list_in(list, index, depth),
            Some(_) => self.map_in(list, index, depth),
        }
    }

    /// Follows a bracket behind an index.
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

    /// Follows a dot behind an index. What is there and is no object gives way to one at once.
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

    /// Puts a value into a list; before it, nulls stand where nothing was.
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

    /// Reads an index and its closing bracket; `None` if the text ends before that.
    fn index(&mut self) -> Result<Option<i64>, SetError> {
        let (text, closing) = self.scanner.until(&[']'], self.backslash());
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

    /// Reads a value; [`Flow::Ends`] if nothing at all stands behind the equals sign.
    fn value(&mut self) -> Result<(Value, Flow), SetError> {
        match self.flag {
            Flag::SetJson => Ok((json::value(&mut self.scanner)?, Flow::Goes)),
            Flag::SetLiteral => {
                let (text, _) = self.scanner.until(&[], Backslash::Plain);
                Ok((Value::Text(text), Flow::Goes))
            }
            Flag::Set | Flag::SetString | Flag::SetFile => self.value_or_list(),
        }
    }

    /// Reads a value up to the next comma, or a list in braces.
    fn value_or_list(&mut self) -> Result<(Value, Flow), SetError> {
        if self.scanner.rest().is_empty() {
            return Ok((Value::Text(String::new()), Flow::Ends));
        }
        if !self.scanner.take('{') {
            let (text, _) = self.scanner.until(&[','], Backslash::Escapes);
            return Ok((self.read_as_flag_says(text)?, Flow::Goes));
        }
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.scanner.until(&[',', '}'], Backslash::Escapes);
            if stop.is_none() {
                return Err(SetError::OpenList);
            }
            items.push(self.read_as_flag_says(text)?);
            if stop == Some('}') {
                // What follows without a comma begins the next assignment all the same.
                self.scanner.take(',');
                return Ok((Value::List(items), Flow::Goes));
            }
        }
    }

    fn read_as_flag_says(&self, text: String) -> Result<Value, SetError> {
        match self.flag {
            Flag::Set => Ok(typed::value(text)),
            Flag::SetFile => match (self.rules.read_file)(&text) {
                Ok(content) => Ok(Value::Text(content)),
                Err(problem) => Err(SetError::File { path: text, problem }),
            },
            Flag::SetString | Flag::SetJson | Flag::SetLiteral => Ok(Value::Text(text)),
        }
    }

    fn backslash(&self) -> Backslash {
        if self.flag == Flag::SetLiteral { Backslash::Plain } else { Backslash::Escapes }
    }
}

/// Sets a key; an empty one is left alone.
fn set(map: &mut Map, key: String, value: Value) {
    if !key.is_empty() {
        map.insert(key, value);
    }
}

/// Whether an object is still empty when something was to be set in it: its key had a dot and no name behind it.
fn sets_nothing(inner: &Map, flow: Flow) -> bool {
    flow == Flow::Goes && inner.is_empty()
}

/// Lists of files may be longer than what Helm sets in them.
fn check_index(index: usize, flow: Flow) -> Result<Flow, SetError> {
    if flow == Flow::Goes && index > INDEX_MAX {
        return Err(SetError::IndexTooLarge { index });
    }
    Ok(flow)
}

fn not(wanted: &'static str, found: &Value) -> SetError {
    SetError::OtherType { found: found.go_type(), wanted }
}
