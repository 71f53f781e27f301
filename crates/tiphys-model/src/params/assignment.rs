//! The syntax of assignments that set parameters: `NAME=VALUE` and related forms (see `docs/parameters.md`).
//!
//! | syntax | effect |
//! |---|---|
//! | `NAME=VALUE` | sets a string |
//! | `NAME:=JSON` | sets a string, a list or a map, by the type of the JSON value; numbers and booleans become strings as written |
//! | `NAME[KEY]=VALUE`, `NAME[0]=VALUE` | sets one entry of a map, one item of a list |
//! | `NAME+=VALUE`, `NAME+:=JSON` | appends an item, or all items of a JSON list, to a list |
//! | `NAME=@FILE`, `NAME:=@FILE` | reads the value from a file |
//!
//! Names may contain these operators: a known name takes precedence over every other interpretation.

mod apply;
mod operand;
#[cfg(test)]
mod tests;
mod written;

use std::collections::HashSet;

pub use apply::{Applied, ApplyError, Edited, InEffect, ParameterChange, apply};
pub use operand::{OperandError, ParameterValue, read_operand, read_values};

/// A change of a parameter or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment<V> {
    /// The part to change.
    pub target: Target,
    /// The new value; `None` unsets the part.
    pub value: Option<V>,
}

/// A part of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The parameter's non-empty name.
    pub name: String,
    /// The part of its value.
    pub part: Part,
}

/// A part of a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The whole value.
    Whole,
    /// The key of a map or the index of a list, as it was written.
    Item(String),
    /// The end of a list, for appending.
    End,
}

/// The unparsed value after the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The format of the value.
    pub form: Form,
    /// The origin of the value.
    pub origin: OperandOrigin,
}

/// The format of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A string, taken literally (`=`).
    Text,
    /// JSON (`:=`).
    Json,
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandOrigin {
    /// The text after the operator.
    Inline(String),
    /// The file with this path (`@`).
    File(String),
}

/// A syntax error in an assignment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// There is no `=`.
    #[error(
        "{text:?} is not an assignment; write NAME=VALUE, NAME:=JSON, NAME[KEY]=VALUE, NAME+=VALUE or NAME=@FILE"
    )]
    Sign {
        /// The assignment as written.
        text: String,
    },
    /// The name is empty.
    #[error("{text:?} names no parameter")]
    Name {
        /// The assignment as written.
        text: String,
    },
    /// `+=` is used with an item, which is a string.
    #[error("{text} is one item; `+=` appends to a list, so write {text}=VALUE")]
    Item {
        /// The item.
        text: String,
    },
    /// The path after `@` is empty.
    #[error("{text:?} has no file name after `@`; write a string that begins with `@` as NAME:='\"@…\"'")]
    File {
        /// The assignment as written.
        text: String,
    },
}

/// The operators, longest first, with the format of the value and whether they append.
const OPERATORS: [(&str, Form, bool); 4] = [
    ("+:=", Form::Json, true),
    (":=", Form::Json, false),
    ("+=", Form::Text, true),
    ("=", Form::Text, false),
];

impl Assignment<Operand> {
    /// Parses an assignment. `known` are the announced and the set names.
    pub fn parse(text: &str, known: &HashSet<&str>) -> Result<Self, SyntaxError> {
        let (target, form, value) = split(text, known)?;
        if target.name.is_empty() {
            return Err(SyntaxError::Name { text: text.to_owned() });
        }
        let origin = match value.strip_prefix('@') {
            Some("") => return Err(SyntaxError::File { text: text.to_owned() }),
            Some(path) => OperandOrigin::File(path.to_owned()),
            None => OperandOrigin::Inline(value.to_owned()),
        };
        Ok(Self { target, value: Some(Operand { form, origin }) })
    }
}

impl Target {
    /// Parses what to unset: `NAME`, `NAME[KEY]`, `NAME[0]`.
    pub fn parse(text: &str, known: &HashSet<&str>) -> Result<Self, SyntaxError> {
        let target = if known.contains(text) { Self::whole(text) } else { with_item(text, known) };
        if target.name.is_empty() {
            return Err(SyntaxError::Name { text: text.to_owned() });
        }
        Ok(target)
    }

    /// Returns the target for a whole parameter.
    pub fn whole(name: &str) -> Self {
        Self { name: name.to_owned(), part: Part::Whole }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.part {
            Part::Whole => f.write_str(&self.name),
            Part::Item(item) => write!(f, "{}[{item}]", self.name),
            Part::End => write!(f, "{}[+]", self.name),
        }
    }
}

/// Splits an assignment into target, format and value.
fn split<'a>(text: &'a str, known: &HashSet<&str>) -> Result<(Target, Form, &'a str), SyntaxError> {
    // A known name is at most this long; an item may have any length.
    let longest = known.iter().map(|name| name.len()).max().unwrap_or_default();
    let equals: Vec<usize> = text.match_indices('=').map(|(at, _)| at).collect();
    let Some(first) = equals.first() else { return Err(SyntaxError::Sign { text: text.to_owned() }) };

    // A known name wins; of several, the longest.
    let literal = equals.iter().take_while(|at| **at <= longest + 2).flat_map(|at| readings(text, *at));
    if let Some(reading) =
        literal.filter(|reading| known.contains(reading.before)).max_by_key(|reading| reading.before.len())
    {
        return reading.of(Target::whole(reading.before));
    }
    // Otherwise the first operator after an item of a known name. Such a name ends at one of the first brackets, so only they are checked.
    let ends: Vec<usize> = text
        .match_indices('[')
        .map(|(at, _)| at)
        .take_while(|at| *at <= longest)
        .filter(|at| known.contains(&text[..*at]))
        .collect();
    if let Some(first_end) = ends.first() {
        let items = equals.iter().filter(|at| *at > first_end).flat_map(|at| readings(text, *at));
        if let Some(reading) = items.into_iter().find(|reading| reading.before.ends_with(']')) {
            return reading.of(with_item(reading.before, known));
        }
    }
    // Otherwise it is a new name. A bracket that is open at an operator starts a key that contains the operator.
    let bracket = text.find('[').unwrap_or(text.len());
    let closed = |at: &&usize| **at < bracket || shortest(text, **at).before.ends_with(']');
    let at = equals.iter().find(closed).unwrap_or(first);
    let reading = shortest(text, *at);
    reading.of(with_item(reading.before, known))
}

/// One interpretation of the operator at a position.
struct Reading<'a> {
    before: &'a str,
    form: Form,
    appends: bool,
    value: &'a str,
}

impl<'a> Reading<'a> {
    fn of(&self, target: Target) -> Result<(Target, Form, &'a str), SyntaxError> {
        let part = match (target.part, self.appends) {
            (Part::Whole, true) => Part::End,
            (Part::Item(_), true) => return Err(SyntaxError::Item { text: self.before.to_owned() }),
            (part, _) => part,
        };
        Ok((Target { part, ..target }, self.form, self.value))
    }
}

/// Returns the interpretations of the operator whose `=` is at this byte, with the longest operator, and so the shortest name, first.
fn readings(text: &str, at: usize) -> impl Iterator<Item = Reading<'_>> {
    let (before, value) = (&text[..at], &text[at + 1..]);
    OPERATORS.iter().filter_map(move |(operator, form, appends)| {
        let before = before.strip_suffix(&operator[..operator.len() - 1])?;
        Some(Reading { before, form: *form, appends: *appends, value })
    })
}

fn shortest(text: &str, at: usize) -> Reading<'_> {
    let plain = Reading { before: &text[..at], form: Form::Text, appends: false, value: &text[at + 1..] };
    readings(text, at).next().unwrap_or(plain)
}

/// Parses `NAME[KEY]` as an item: of the longest known name, else from the first bracket on. Anything else is a whole name.
fn with_item(text: &str, known: &HashSet<&str>) -> Target {
    let Some(inner) = text.strip_suffix(']') else { return Target::whole(text) };
    let longest = known.iter().map(|name| name.len()).max().unwrap_or_default();
    let brackets = inner.match_indices('[').map(|(at, _)| at).take_while(|at| *at <= longest);
    let of_known = brackets.filter(|at| known.contains(&inner[..*at])).last();
    match of_known.or_else(|| inner.find('[')) {
        Some(at) if at > 0 => {
            Target { name: inner[..at].to_owned(), part: Part::Item(inner[at + 1..].to_owned()) }
        }
        _ => Target::whole(text),
    }
}
