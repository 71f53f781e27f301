//! Validation of parameter values against announcements, at the places where users set them.

use std::collections::{HashMap, HashSet};

use crate::params::suggest::suggest;
use crate::params::{Announcement, CollectionType, ItemType, JsonType, Parameter, Types};

/// The item of a value that has a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Item {
    /// The single value.
    #[error("the value")]
    Text,
    /// The item of a list, by index from 0.
    #[error("item {}", .0 + 1)]
    Index(usize),
    /// The value of a key of a map.
    #[error("the value of the key `{0}`")]
    Key(String),
}

/// A mismatch between a parameter and its announcement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameter `{parameter}`: {kind}")]
pub struct Problem {
    /// Name of the parameter.
    pub parameter: String,
    /// The kind of problem.
    pub kind: ProblemKind,
}

/// The kind of a problem. Values are not included, because they may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// A required value is not set and has no announced default.
    #[error("a value is required, and there is no default")]
    Required,
    /// The value is in another field than that of the announced collection type.
    #[error("the plugin reads `{due}`, but only `{found}` is set")]
    WrongField {
        /// The field that the plugin reads.
        due: &'static str,
        /// A field that is set.
        found: &'static str,
    },
    /// An item is not an exact decimal number ([`is_number`]).
    #[error("{0} has to be a decimal number, such as `3` or `-1.5e3`")]
    NotANumber(Item),
    /// An item is neither `true` nor `false`.
    #[error("{0} has to be `true` or `false`")]
    NotABoolean(Item),
    /// An item represents no value of the announced types.
    #[error("{item} has to be {}", types.words())]
    NotOneOf {
        /// The item.
        item: Item,
        /// The types.
        types: Types,
    },
    /// An item is not one of the announced choices.
    #[error("{item} has to be one of {}", quoted(choices))]
    NotAChoice {
        /// The item.
        item: Item,
        /// The choices.
        choices: Vec<String>,
    },
    /// No announcement has this name.
    #[error("the plugin does not announce it{}", if suggestions.is_empty() { String::new() } else { format!("; did you mean {}?", quoted(suggestions)) })]
    Unannounced {
        /// Similar announced names, the most similar first.
        suggestions: Vec<String>,
    },
}

/// Validates a parameter against its announcement: field, `required`, `itemType`, `choices`. Items are checked in the order of the value.
/// If the value is only in a wrong field, this is the only problem.
pub fn check_value(announcement: &Announcement, parameter: &Parameter) -> Vec<Problem> {
    let problem = |kind| Problem { parameter: announcement.name.clone(), kind };
    let mut problems = Vec::new();
    let given = [
        ("string", parameter.string.is_some()),
        ("array", parameter.array.is_some()),
        ("map", parameter.map.is_some()),
    ];
    let expected = announcement.collection_type.field();
    let items: Vec<(Item, &str)> = match announcement.collection_type {
        CollectionType::Absent | CollectionType::String => {
            parameter.string.iter().map(|text| (Item::Text, text.as_str())).collect()
        }
        CollectionType::Array => {
            let items = parameter.array.iter().flatten().enumerate();
            items.map(|(index, text)| (Item::Index(index), text.as_str())).collect()
        }
        CollectionType::Map => {
            let values = parameter.map.iter().flatten();
            values.map(|(key, text)| (Item::Key(key.clone()), text.as_str())).collect()
        }
    };
    if !given.contains(&(expected, true)) {
        match given.iter().find(|(_, present)| *present) {
            Some((found, _)) => problems.push(problem(ProblemKind::WrongField { due: expected, found })),
            None if is_missing(announcement) => problems.push(problem(ProblemKind::Required)),
            None => {}
        }
    }
    for (item, text) in items {
        problems.extend(check_item(announcement, item, text).into_iter().map(problem));
    }
    problems
}

/// Maximum number of name comparisons for suggestions in one check. Further unannounced names get no suggestions: with that many, not each
/// of them is a typo.
pub const COMPARISONS_MAX: usize = 100_000;

/// Validates all set parameters against all announcements. Returns problems of values and unannounced names in the order of the parameters,
/// then missing required parameters in the order of the announcements.
pub fn check_values(announcements: &[Announcement], parameters: &[Parameter]) -> Vec<Problem> {
    // The first of duplicate announcements counts.
    let by_name: HashMap<&str, &Announcement> =
        announcements.iter().rev().map(|announcement| (announcement.name.as_str(), announcement)).collect();
    let mut problems = Vec::new();
    let mut comparisons = 0;
    for parameter in parameters {
        match by_name.get(parameter.name.as_str()) {
            Some(announcement) => problems.extend(check_value(announcement, parameter)),
            None => problems.push(Problem {
                parameter: parameter.name.clone(),
                kind: ProblemKind::Unannounced {
                    suggestions: if comparisons + announcements.len() > COMPARISONS_MAX {
                        Vec::new()
                    } else {
                        comparisons += announcements.len();
                        let names = announcements.iter().map(|announcement| announcement.name.as_str());
                        suggest(&parameter.name, names).into_iter().map(str::to_owned).collect()
                    },
                },
            }),
        }
    }
    let set: HashSet<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let unset = announcements
        .iter()
        .filter(|announcement| !set.contains(announcement.name.as_str()))
        .filter(|announcement| is_missing(announcement));
    problems.extend(
        unset.map(|announcement| Problem {
            parameter: announcement.name.clone(),
            kind: ProblemKind::Required,
        }),
    );
    problems
}

/// Validates the effective announced default against the announcement's own `itemType` and `choices`.
pub fn check_default(announcement: &Announcement) -> Vec<Problem> {
    let parameter = Parameter {
        name: announcement.name.clone(),
        string: announcement.string.clone(),
        array: announcement.array.clone(),
        map: announcement.map.clone(),
    };
    match announcement.default_value() {
        Some(_) => check_value(announcement, &parameter),
        None => Vec::new(),
    }
}

/// Whether a string is an exact decimal number: `[+-] digits [. digits] [e [+-] digits]`, ASCII only, without whitespace. The value is not
/// computed, so every digit is significant. Hexadecimal numbers, `inf` and `nan` are invalid.
pub fn is_number(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    is_digits(whole)
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a string may represent a value of this type. The plugin decides how lists and objects are written.
fn may_represent(text: &str, one: JsonType) -> bool {
    match one {
        JsonType::Integer => is_digits(text.strip_prefix(['+', '-']).unwrap_or(text)),
        JsonType::Number => is_number(text),
        JsonType::Boolean => matches!(text, "true" | "false"),
        JsonType::Null => text == JsonType::Null.word(),
        JsonType::String | JsonType::Array | JsonType::Object => true,
    }
}

/// Whether an unset parameter is missing. An empty default satisfies `required`: it differs from a missing one.
fn is_missing(announcement: &Announcement) -> bool {
    announcement.required == Some(true) && announcement.default_value().is_none()
}

fn check_item(announcement: &Announcement, item: Item, text: &str) -> Vec<ProblemKind> {
    let mut problems = Vec::new();
    match announcement.item_type {
        Some(ItemType::Number) if !is_number(text) => problems.push(ProblemKind::NotANumber(item.clone())),
        Some(ItemType::Boolean) if text != "true" && text != "false" => {
            problems.push(ProblemKind::NotABoolean(item.clone()));
        }
        Some(ItemType::OneOf(types)) if !types.iter().any(|one| may_represent(text, one)) => {
            problems.push(ProblemKind::NotOneOf { item: item.clone(), types });
        }
        _ => {}
    }
    if !announcement.choices.is_empty() && announcement.choices.iter().all(|choice| choice != text) {
        problems.push(ProblemKind::NotAChoice { item, choices: announcement.choices.clone() });
    }
    problems
}

/// Formats names in back quotes.
fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
