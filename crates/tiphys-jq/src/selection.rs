//! The selected parts of a JSON value, and their removal.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Parts of a value that are removed at once, so that indices into lists stay valid.
#[derive(Debug, PartialEq)]
pub(crate) enum Selection {
    /// The whole value.
    Whole,
    /// Parts of an object or a list; possibly none.
    Parts(BTreeMap<Step, Selection>),
}

/// A key of an object, or an index into a list.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Default for Selection {
    fn default() -> Self {
        Self::Parts(BTreeMap::new())
    }
}

impl Selection {
    /// Adds what a jq path selects in a value: keys, indices (a negative one counts from the end) and slices (`{"start": 1, "end": 3}`).
    /// Returns `None` if a step does not fit the type of its value. What does not exist is not selected.
    pub(crate) fn add(&mut self, value: &Value, path: &[Value]) -> Option<()> {
        let Self::Parts(parts) = self else { return Some(()) };
        let Some((step, rest)) = path.split_first() else {
            *self = Self::Whole;
            return Some(());
        };
        match (value, step) {
            (Value::Null, _) => Some(()),
            (Value::Object(fields), Value::String(key)) => match fields.get(key) {
                Some(child) => parts.entry(Step::Key(key.clone())).or_default().add(child, rest),
                None => Some(()),
            },
            (Value::Array(items), _) => self.add_items(items, 0, path),
            _ => None,
        }
    }

    /// Adds what a path selects in items of a list, whose first one has this index.
    fn add_items(&mut self, items: &[Value], first: usize, path: &[Value]) -> Option<()> {
        let (step, rest) = path.split_first()?;
        let (start, end) = match step {
            Value::Number(index) => {
                let Some(index) = position(index.as_i64()?, items.len()) else { return Some(()) };
                let child = items.get(index);
                return child.map_or(Some(()), |child| self.part(first + index).add(child, rest));
            }
            Value::Object(slice) => bounds(slice, items.len()),
            _ => return None,
        };
        if rest.is_empty() {
            (start..end).for_each(|index| *self.part(first + index) = Self::Whole);
            return Some(());
        }
        self.add_items(&items[start..end], first + start, rest)
    }

    /// Returns the selection in an item of a list.
    fn part(&mut self, index: usize) -> &mut Self {
        match self {
            Self::Parts(parts) => parts.entry(Step::Index(index)).or_default(),
            Self::Whole => self,
        }
    }

    /// Removes the selected parts. A value that is selected as a whole becomes `null`.
    pub(crate) fn remove_from(&self, value: &mut Value) {
        let Self::Parts(parts) = self else {
            *value = Value::Null;
            return;
        };
        // Backwards, because the removal of an item changes the indices behind it.
        for (step, part) in parts.iter().rev() {
            match (&mut *value, step, part) {
                (Value::Object(fields), Step::Key(key), Self::Whole) => drop(fields.remove(key)),
                (Value::Array(items), Step::Index(index), Self::Whole) => drop(items.remove(*index)),
                (Value::Object(fields), Step::Key(key), part) => {
                    fields.get_mut(key).into_iter().for_each(|child| part.remove_from(child));
                }
                (Value::Array(items), Step::Index(index), part) => {
                    items.get_mut(*index).into_iter().for_each(|child| part.remove_from(child));
                }
                _ => {}
            }
        }
    }
}

/// Returns the position of an index, which counts from the end if it is negative; none before the first item.
fn position(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    usize::try_from(if index < 0 { index + length } else { index }).ok()
}

/// Returns the first index of a slice and the one behind its last.
fn bounds(slice: &Map<String, Value>, length: usize) -> (usize, usize) {
    let bound =
        |key| slice.get(key).and_then(Value::as_i64).map(|index| position(index, length).unwrap_or(0));
    let end = bound("end").unwrap_or(length).min(length);
    (bound("start").unwrap_or(0).min(end), end)
}

#[cfg(test)]
mod tests;
