//! Paths of values in a chart, as users write them: helm's `--set` names, in which `[KEY]` is a key as it is written.

use std::fmt;

use serde_json::Value;
use tiphys_helm_values::{NameError, PathItem, escape_name, parse_name};
use tiphys_yaml::Step;

use super::SET_PREFIX;

/// The path of a value in a chart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValuePath(Vec<PathItem>);

/// Returns the name of a value in an assignment (`set.a[b=c]=d`): up to the first equals sign that is neither in brackets nor after a
/// backslash, without the rest of the operator. `None` if there is none.
pub fn assigned_value_name(text: &str) -> Option<&str> {
    let (mut at, mut end) = (0, None);
    while let Some(char) = text[at..].chars().next() {
        match char {
            '\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => at = closing_bracket(text, at).map_or(at + 1, |closing| closing + 1),
            '=' => {
                end = Some(at);
                break;
            }
            char => at += char.len_utf8(),
        }
    }
    let name = &text[..end.or_else(|| text.find('='))?];
    Some(name.trim_end_matches([':', '+']))
}

/// Returns the place of the bracket that closes the one at `open`: the first one that an operator, a dot, a bracket or the end follows.
fn closing_bracket(text: &str, open: usize) -> Option<usize> {
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(['=', ':', '+', '.', '[']);
    text[open..].match_indices(']').map(|(at, _)| open + at).find(|at| is_end(&text[at + 1..]))
}

impl ValuePath {
    /// Parses the name of a parameter, with its prefix `set.`. The flag is whether it has a key in brackets, so that helm cannot read it.
    /// `None` for other parameters.
    pub fn of_parameter(name: &str) -> Option<Result<(Self, bool), NameError>> {
        let name = name.strip_prefix(SET_PREFIX)?;
        let (plain, has_keys) = without_bracketed_keys(name);
        Some(parse_name(&plain).map(|path| (Self(path), has_keys)))
    }

    /// Parses a name without a prefix, as helm does.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        parse_name(name).ok().map(Self)
    }

    pub(super) fn of_items(items: &[PathItem]) -> Self {
        Self(items.to_vec())
    }

    /// Returns the same path with keys instead of the indexes that follow the path of a map: `[80]` is a key of a map and an item of a list.
    #[must_use]
    pub fn with_keys_of(&self, is_map: impl Fn(&Self) -> bool) -> Self {
        let mut path = Self(Vec::with_capacity(self.0.len()));
        for item in &self.0 {
            let item = match item {
                PathItem::Index(index) if is_map(&path) => PathItem::Key(index.to_string()),
                item => item.clone(),
            };
            path.0.push(item);
        }
        path
    }

    /// Returns the name of the parameter for this value, as plugins announce it; `None` if helm has no name for it.
    pub fn parameter(&self) -> Option<String> {
        escape_name(&self.0).map(|name| format!("{SET_PREFIX}{name}"))
    }

    /// Returns the path of the outermost list that this path leads through.
    pub fn outermost_list(&self) -> Option<Self> {
        let index = self.0.iter().position(|item| matches!(item, PathItem::Index(_)))?;
        Some(Self(self.0[..index].to_vec()))
    }

    /// Returns the paths of the lists and maps that this path leads through, and whether it continues with an index.
    pub fn parents(&self) -> impl Iterator<Item = (Self, bool)> {
        (1..self.0.len())
            .map(|length| (Self(self.0[..length].to_vec()), matches!(self.0[length], PathItem::Index(_))))
    }

    /// Returns the paths of the lists that this path leads through, with the index of the item in each.
    pub fn indexes(&self) -> impl Iterator<Item = (Self, usize)> {
        self.0.iter().enumerate().filter_map(|(at, item)| match item {
            PathItem::Index(index) => Some((Self(self.0[..at].to_vec()), *index)),
            PathItem::Key(_) => None,
        })
    }

    /// Whether one path leads to the other's value, or through it.
    pub fn is_nested(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one == other)
    }

    /// Whether this path leads to the other's value, or to a part of it.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// Returns the value at this path; `None` if it does not exist.
    pub fn find<'a>(&self, values: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(values, |value, item| match item {
            PathItem::Key(key) => value.as_object()?.get(key),
            PathItem::Index(index) => value.as_array()?.get(*index),
        })
    }

    /// Returns the value at this path below the value of a part of it.
    pub fn find_below<'a>(&self, part: &Self, value: &'a Value) -> Option<&'a Value> {
        Self(self.0.get(part.0.len()..)?.to_vec()).find(value)
    }

    /// Returns this path with an index below it.
    pub(super) fn with_index(&self, index: usize) -> Self {
        let mut path = self.0.clone();
        path.push(PathItem::Index(index));
        Self(path)
    }

    /// Returns the path of the object or list with this value, and its key or index.
    pub(super) fn split_last(&self) -> Option<(Self, &PathItem)> {
        self.0.split_last().map(|(last, parents)| (Self(parents.to_vec()), last))
    }

    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn items(&self) -> &[PathItem] {
        &self.0
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        let step = |item: &PathItem| match item {
            PathItem::Key(key) => Step::Key(key.clone()),
            PathItem::Index(index) => Step::Index(*index),
        };
        self.0.iter().map(step).collect()
    }
}

/// The path as `--set` reads it, else its keys as they are.
impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match escape_name(&self.0) {
            Some(name) => f.write_str(&name),
            None => write!(f, "{:?}", self.0),
        }
    }
}

/// Replaces keys in brackets by escaped keys after a dot, and returns whether there are any.
fn without_bracketed_keys(name: &str) -> (String, bool) {
    let (mut plain, mut has_keys) = (String::with_capacity(name.len()), false);
    let mut rest = name;
    while let Some(char) = rest.chars().next() {
        let length = match char {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' => match closing_bracket(rest, 0) {
                Some(closing) => {
                    let key = &rest[1..closing];
                    let is_index = key.bytes().all(|byte| byte.is_ascii_digit());
                    if let Some(escaped) = escape_name(&[PathItem::Key(key.to_owned())]).filter(|_| !is_index)
                    {
                        has_keys = true;
                        plain.push_str(if plain.is_empty() { "" } else { "." });
                        plain.push_str(&escaped);
                        rest = &rest[closing + 1..];
                        continue;
                    }
                    closing + 1
                }
                None => 1,
            },
            char => char.len_utf8(),
        };
        plain.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    (plain, has_keys)
}

#[cfg(test)]
mod tests;
