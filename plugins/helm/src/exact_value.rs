//! `value.PATH`: one JSON value, which helm receives exactly. Values from a cluster come this way, so each may be secret: strings, lists and
//! maps are in files of the private home only, and no error contains a value.
//!
//! Integers and booleans are arguments of `--set`: from a values file, helm would print 1000000 as `1e+06`.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde_json::Value;
use tiphys_go::strconv::quote;
use tiphys_helm_values::{NameError, PathItem, escape_name, parse_name};
use tiphys_yaml::{Data, Node, read_json, write_go_json};

use crate::home::{HomeError, WriteFile};
use crate::options::{Assignment, AssignmentKind};
use crate::template::NamedValue;

/// Prefix of the parameters.
pub(crate) const EXACT: &str = "value.";

/// Name of the values file in the home. Strings are in files whose names are this one and a number.
const FILE: &str = "exact";

/// A value and its path.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ExactValue {
    /// As written, without the prefix.
    name: String,
    path: Vec<PathItem>,
    content: Content,
}

#[derive(Clone, PartialEq, Eq)]
enum Content {
    Text(String),
    /// An integer, a boolean or `null`, as `--set` reads it.
    Word(String),
    /// A list or a map.
    Structure(Value),
}

/// Values may be secret.
impl fmt::Debug for ExactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactValue").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Errors of a `value` parameter. None contains the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExactValueError {
    /// The name is invalid.
    #[error("parameter {EXACT}{name}")]
    Name { name: String, source: NameError },
    /// The string is not JSON.
    #[error("parameter {EXACT}{name}: expected one JSON value; write a string in quotation marks")]
    NotJson { name: String },
    /// A number that `--set` does not support.
    #[error(
        "parameter {EXACT}{name}: expected an integer of 64 bits; write another number as a string in quotation marks"
    )]
    Number { name: String },
    /// An integer that a values file would change.
    #[error(
        "parameter {EXACT}{name}: an integer in a list or map must be exact as a 64-bit float; set it by a parameter of its own"
    )]
    InexactItem { name: String },
    /// A list or map at a path with an index.
    #[error(
        "parameter {EXACT}{name}: a list or map cannot be set at a path with an index; set the whole list"
    )]
    AtIndex { name: String },
    /// Two parameters for one value.
    #[error(
        "parameters {EXACT}{name} and {other} may set the same value, or one a part of the other; remove one of them"
    )]
    Overlap {
        name: String,
        /// With its prefix.
        other: String,
    },
}

impl ExactValue {
    /// Returns the name as written, without the prefix, and the path.
    pub(crate) fn place(&self) -> (&str, &[PathItem]) {
        (&self.name, &self.path)
    }

    /// Parses a parameter: the name without its prefix, and its string.
    pub(crate) fn parse(name: &str, json: &str) -> Result<Self, ExactValueError> {
        let name = name.to_owned();
        let path = match parse_name(&name) {
            Ok(path) => path,
            Err(source) => return Err(ExactValueError::Name { name, source }),
        };
        let Ok(node) = read_json(json.as_bytes()) else { return Err(ExactValueError::NotJson { name }) };
        let content = match &node.data {
            Data::String(text) => Content::Text(text.clone()),
            Data::Null | Data::Bool(_) | Data::Integer(_) => Content::Word(node.to_value().to_string()),
            Data::Unsigned(_) | Data::Float(_) => return Err(ExactValueError::Number { name }),
            Data::Sequence(_) | Data::Mapping(_) if !path.iter().all(is_key) => {
                return Err(ExactValueError::AtIndex { name });
            }
            Data::Sequence(_) | Data::Mapping(_) if !is_exact(&node) => {
                return Err(ExactValueError::InexactItem { name });
            }
            Data::Sequence(_) | Data::Mapping(_) => Content::Structure(node.to_value()),
        };
        Ok(Self { name, path, content })
    }
}

/// Rejects parameters whose paths are equal or nested: helm's order of precedence would decide, which depends on the types of the values.
pub(crate) fn check_overlaps(
    values: &[ExactValue],
    assignments: &[Assignment],
) -> Result<(), ExactValueError> {
    // The effect of a name that helm parses in another way is unknown.
    let others = assignments.iter().map(|one| (one, parse_name(&one.name).ok()));
    let others: Vec<_> = others.collect();
    for (index, one) in values.iter().enumerate() {
        let earlier = values[..index].iter().filter(|other| is_nested(&one.path, &other.path));
        let set =
            others.iter().filter(|(_, path)| path.as_ref().is_none_or(|path| is_nested(&one.path, path)));
        // A name may contain `=` and so a value.
        let set_name = |name: &str| name.split('=').next().unwrap_or_default().to_owned();
        let set = set.map(|(other, _)| [other.kind.prefix(), &set_name(&other.name)].concat());
        if let Some(other) = earlier.map(|other| [EXACT, &other.name].concat()).chain(set).next() {
            return Err(ExactValueError::Overlap { name: one.name.clone(), other });
        }
    }
    Ok(())
}

/// How helm receives the values.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    /// Values of `--set`, and files of `--set-file`.
    pub(crate) assignments: Vec<NamedValue>,
    /// The values file with lists and maps.
    pub(crate) values_file: Option<PathBuf>,
}

/// Writes the files for helm.
pub(crate) fn hand_over(values: &[ExactValue], write: &mut WriteFile<'_>) -> Result<HandedOver, HomeError> {
    let mut handed_over = HandedOver::default();
    let mut structures = serde_json::Map::new();
    for (index, one) in values.iter().enumerate() {
        let (kind, value) = match &one.content {
            Content::Structure(value) => {
                place(&mut structures, &one.path, value);
                continue;
            }
            Content::Word(word) => (AssignmentKind::Value, word.clone()),
            Content::Text(text) => {
                let file = write(&format!("{FILE}-{index}"), text.as_bytes())?;
                (AssignmentKind::File, file.to_string_lossy().into_owned())
            }
        };
        // A backslash at the end of a name would escape the equals sign.
        let name = escape_name(&one.path).unwrap_or_else(|| one.name.clone());
        handed_over.assignments.push((kind, name, value));
    }
    if !structures.is_empty() {
        let content = as_helm_reads(&write_go_json(&structures.into()));
        handed_over.values_file = Some(write(FILE, content.as_bytes())?);
    }
    Ok(handed_over)
}

/// Returns the strings as which the output of another program may contain the values: strings, their lines and numbers, plain and quoted.
/// Booleans and keys are not secrets.
pub(crate) fn quotations(values: &[ExactValue]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for one in values {
        match &one.content {
            Content::Text(text) => add_quotations(&mut all, &Value::String(text.clone())),
            Content::Word(word) => {
                add_quotations(&mut all, &word.parse::<i64>().map_or(Value::Null, Value::from));
            }
            Content::Structure(value) => add_quotations(&mut all, value),
        }
    }
    all
}

fn add_quotations(all: &mut BTreeSet<String>, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            all.insert(number.to_string());
            let float = tiphys_helm_values::Value::Float(number.as_f64().unwrap_or_default()).to_string();
            all.extend([localized(&float), float]);
        }
        Value::String(text) => {
            for part in text.lines().map(str::trim).chain([text.trim(), text]) {
                let go = unquoted(&quote(part)).to_owned();
                // Messages about schemas quote with apostrophes.
                let schema = go.replace("\\\"", "\"").replace('\'', "\\'");
                let json = unquoted(&write_go_json(&part.into())).to_owned();
                all.extend([part.to_owned(), go, schema, json]);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_quotations(all, item)),
        Value::Object(map) => map.values().for_each(|item| add_quotations(all, item)),
    }
}

/// Formats a number as messages about schemas do: `12,345.5`, `1.5×10⁰⁶`.
fn localized(float: &str) -> String {
    const EXPONENT: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if let Some((mantissa, exponent)) = float.split_once('e') {
        let raised = |char: char| match char.to_digit(10) {
            Some(digit) => EXPONENT.get(digit as usize).copied(),
            None => (char == '-').then_some('⁻'),
        };
        return format!("{mantissa}×10{}", exponent.chars().filter_map(raised).collect::<String>());
    }
    let (whole, fraction) = float.split_at(float.find('.').unwrap_or(float.len()));
    let mut written = String::new();
    for (index, char) in whole.char_indices() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) && !written.ends_with('-') {
            written.push(',');
        }
        written.push(char);
    }
    written + fraction
}

/// Removes the quotation marks at both ends.
fn unquoted(text: &str) -> &str {
    text.get(1..text.len() - 1).unwrap_or_default()
}

/// Sets a value at a path of keys. No other value is at the path, above it or below it.
fn place(map: &mut serde_json::Map<String, Value>, path: &[PathItem], value: &Value) {
    let Some((PathItem::Key(key), rest)) = path.split_first() else { return };
    if rest.is_empty() {
        map.insert(key.clone(), value.clone());
    } else if let Value::Object(inner) =
        map.entry(key).or_insert_with(|| Value::Object(serde_json::Map::new()))
    {
        place(inner, rest, value);
    }
}

/// Escapes the characters of JSON strings that helm's YAML reader rejects or takes for line breaks.
fn as_helm_reads(json: &str) -> String {
    let mut written = String::with_capacity(json.len() + 1);
    for char in json.chars() {
        match char {
            '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                written.extend(format!("\\u{:04x}", u32::from(char)).chars());
            }
            char => written.push(char),
        }
    }
    written
}

/// Whether one path leads to the other's value, or through it.
fn is_nested(one: &[PathItem], other: &[PathItem]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

fn is_key(item: &PathItem) -> bool {
    matches!(item, PathItem::Key(_))
}

/// Whether all integers are exact in a values file, where every number is a float.
fn is_exact(node: &Node) -> bool {
    match &node.data {
        Data::Sequence(items) => items.iter().all(is_exact),
        Data::Mapping(entries) => entries.iter().all(|entry| is_exact(&entry.value)),
        Data::Integer(value) => is_exact_float(value.unsigned_abs()),
        Data::Unsigned(value) => is_exact_float(*value),
        Data::Null | Data::Bool(_) | Data::Float(_) | Data::String(_) => true,
    }
}

/// Whether the integer's significant bits fit a float's.
fn is_exact_float(value: u64) -> bool {
    (u64::BITS - value.leading_zeros()).saturating_sub(value.trailing_zeros()) <= f64::MANTISSA_DIGITS
}

#[cfg(test)]
mod tests;
