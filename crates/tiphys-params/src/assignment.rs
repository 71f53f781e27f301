//! What people write to set parameters: `NAME=TEXT` and its relatives (`design.md` section 4).
//!
//! | text | does |
//! |---|---|
//! | `NAME=TEXT` | sets a text |
//! | `NAME:=JSON` | sets a text, a list or a map, whichever the JSON is; numbers and booleans are the texts that they are written as |
//! | `NAME[KEY]=TEXT`, `NAME[0]=TEXT` | sets one entry of a map, one item of a list |
//! | `NAME+=TEXT`, `NAME+:=JSON` | appends an item, or all items of a JSON list, to a list |
//! | `NAME=@FILE`, `NAME:=@FILE` | the same with what is in a file |
//!
//! Names may hold any of these signs themselves: a name that is known as it stands wins over every other reading.

mod apply;
mod operand;
#[cfg(test)]
mod tests;
mod written;

use std::collections::HashSet;

pub use apply::{Applied, ApplyError, Edited, InEffect, ParameterChange, apply};
pub use operand::{OperandError, ParameterValue, read_operand, read_values};

/// What is to become of a part of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment<V> {
    /// Which part.
    pub target: Target,
    /// What it is to be; `None` takes it away.
    pub value: Option<V>,
}

/// A part of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The parameter's name; never empty.
    pub name: String,
    /// Which part of its value.
    pub part: Part,
}

/// Which part of a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// The key of a map or the index of a list, as it was written.
    Item(String),
    /// The place behind the last item of a list.
    End,
}

/// What stands behind the sign, before anything is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// How it is to be understood.
    pub form: Form,
    /// Where it stands.
    pub origin: OperandOrigin,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A text, taken as it is (`=`).
    Text,
    /// JSON (`:=`).
    Json,
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandOrigin {
    /// Behind the sign.
    Inline(String),
    /// In the file of this path (`@`).
    File(String),
}

/// A text that is no assignment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// There is no `=`.
    #[error("{text:?} sets nothing; write NAME=TEXT, NAME:=JSON, NAME[KEY]=TEXT, NAME+=TEXT or NAME=@FILE")]
    Sign {
        /// As it was written.
        text: String,
    },
    /// Nothing stands before the sign.
    #[error("{text:?} names no parameter")]
    Name {
        /// As it was written.
        text: String,
    },
    /// An item is a text, to which nothing is appended.
    #[error("{text} is one item; `+=` appends to a list, so write {text}=TEXT")]
    Item {
        /// The item.
        text: String,
    },
    /// Nothing stands behind `@`.
    #[error("{text:?} names no file behind `@`; for a text that begins with `@` write NAME:='\"@…\"'")]
    File {
        /// As it was written.
        text: String,
    },
}

/// The signs, longest first, with what they say.
const SIGNS: [(&str, Form, bool); 4] = [
    ("+:=", Form::Json, true),
    (":=", Form::Json, false),
    ("+=", Form::Text, true),
    ("=", Form::Text, false),
];

impl Assignment<Operand> {
    /// Reads what was written to set something. `known` are the names that are announced or set.
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
    /// Reads what was written to take something away: `NAME`, `NAME[KEY]`, `NAME[0]`.
    pub fn parse(text: &str, known: &HashSet<&str>) -> Result<Self, SyntaxError> {
        let target = if known.contains(text) { Self::whole(text) } else { with_item(text, known) };
        if target.name.is_empty() {
            return Err(SyntaxError::Name { text: text.to_owned() });
        }
        Ok(target)
    }

    /// All of a parameter.
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

/// Divides a text into what is set, the form of the value, and the value.
fn split<'a>(text: &'a str, known: &HashSet<&str>) -> Result<(Target, Form, &'a str), SyntaxError> {
    // No known name goes further than the longest one, and its item than any text.
    let longest = known.iter().map(|name| name.len()).max().unwrap_or_default();
    let signs: Vec<usize> = text.match_indices('=').map(|(at, _)| at).collect();
    let Some(first) = signs.first() else { return Err(SyntaxError::Sign { text: text.to_owned() }) };

    // A name that is known as it stands wins; of several the longest.
    let literal = signs.iter().take_while(|at| **at <= longest + 2).flat_map(|at| readings(text, *at));
    if let Some(reading) =
        literal.filter(|reading| known.contains(reading.before)).max_by_key(|reading| reading.before.len())
    {
        return reading.of(Target::whole(reading.before));
    }
    // The first sign that ends an item of a known name. Such a name ends at one of the first brackets, so only they are looked at.
    let ends: Vec<usize> = text
        .match_indices('[')
        .map(|(at, _)| at)
        .take_while(|at| *at <= longest)
        .filter(|at| known.contains(&text[..*at]))
        .collect();
    if let Some(first_end) = ends.first() {
        let items = signs.iter().filter(|at| *at > first_end).flat_map(|at| readings(text, *at));
        if let Some(reading) = items.into_iter().find(|reading| reading.before.ends_with(']')) {
            return reading.of(with_item(reading.before, known));
        }
    }
    // A new name: a bracket that is open at the sign is a key with the sign in it.
    let bracket = text.find('[').unwrap_or(text.len());
    let closed = |at: &&usize| **at < bracket || shortest(text, **at).before.ends_with(']');
    let at = signs.iter().find(closed).unwrap_or(first);
    let reading = shortest(text, *at);
    reading.of(with_item(reading.before, known))
}

/// One way to read the sign at a place.
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

/// The ways to read the sign whose `=` is at this byte: the longest sign first, which leaves the shortest name.
fn readings(text: &str, at: usize) -> impl Iterator<Item = Reading<'_>> {
    let (before, value) = (&text[..at], &text[at + 1..]);
    SIGNS.iter().filter_map(move |(sign, form, appends)| {
        let before = before.strip_suffix(&sign[..sign.len() - 1])?;
        Some(Reading { before, form: *form, appends: *appends, value })
    })
}

fn shortest(text: &str, at: usize) -> Reading<'_> {
    let plain = Reading { before: &text[..at], form: Form::Text, appends: false, value: &text[at + 1..] };
    readings(text, at).next().unwrap_or(plain)
}

/// `NAME[KEY]` as an item: of the longest known name, else from the first bracket on. Anything else is a whole name.
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
