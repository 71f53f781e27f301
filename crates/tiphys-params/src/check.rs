//! Checking values against announcements, where people set them (`design.md` section 5, "When things are checked").

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::suggest::suggest;
use crate::{Announcement, CollectionType, ItemType, JsonType, Parameter, Types};

/// Which item of a value a problem is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The text itself.
    Text,
    /// The item of a list, from 0.
    Index(usize),
    /// The value of a map's key.
    Key(String),
}

/// One reason why a parameter does not fit what is announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the parameter.
    pub parameter: String,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a parameter. Values are not repeated: they may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// It is required, not set, and has no announced default.
    Required,
    /// The value stands in another field than the announced collection type's.
    WrongField {
        /// The field that counts.
        due: &'static str,
        /// A field that is set.
        found: &'static str,
    },
    /// An item is no exact decimal number ([`is_number`]).
    NotANumber(Item),
    /// An item is neither `true` nor `false`.
    NotABoolean(Item),
    /// An item stands for no value of any of several types.
    NotOneOf {
        /// Which item.
        item: Item,
        /// The types.
        types: Types,
    },
    /// An item is none of the announced choices.
    NotAChoice {
        /// Which item.
        item: Item,
        /// The choices.
        choices: Vec<String>,
    },
    /// No announcement has this name.
    Unannounced {
        /// The nearest announced names, nearest first.
        suggestions: Vec<String>,
    },
}

/// Checks one parameter against its announcement: the field of the value, `required`, `itemType`, `choices`.
/// Items are checked in the order of the value. Of a value in another field only that is said.
pub fn check_value(announcement: &Announcement, parameter: &Parameter) -> Vec<Problem> {
    let problem = |kind| Problem { parameter: announcement.name.clone(), kind };
    let mut problems = Vec::new();
    let given = [
        ("string", parameter.string.is_some()),
        ("array", parameter.array.is_some()),
        ("map", parameter.map.is_some()),
    ];
    let due = announcement.collection_type.field();
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
    if !given.contains(&(due, true)) {
        match given.iter().find(|(_, present)| *present) {
            Some((found, _)) => problems.push(problem(ProblemKind::WrongField { due, found })),
            None if is_missing(announcement) => problems.push(problem(ProblemKind::Required)),
            None => {}
        }
    }
    for (item, text) in items {
        problems.extend(check_item(announcement, item, text).into_iter().map(problem));
    }
    problems
}

/// Names that are compared in one check to find those that look alike. Behind it names that nobody announced come without
/// suggestions: of so many not each is a slip of the pen.
pub const COMPARISONS_MAX: usize = 100_000;

/// Checks all parameters that are set against all announcements: each value, names that nobody announced (in the order of the
/// parameters), then required ones that are not set at all (in the order of the announcements).
pub fn check_values(announcements: &[Announcement], parameters: &[Parameter]) -> Vec<Problem> {
    // Of several announcements of one name the first counts.
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

/// Checks the announced default that counts against the announcement's own `itemType` and `choices`.
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

/// Whether a text is an exact decimal number: `[+-] digits [. digits] [e [+-] digits]`, ASCII only, nothing around it. No value is
/// computed, so that every digit counts; hexadecimal numbers, `inf` and `nan` are none.
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

/// Whether a text may stand for a value of this type. How lists and objects are written is the plugin's own.
fn may_be(text: &str, one: JsonType) -> bool {
    match one {
        JsonType::Integer => is_digits(text.strip_prefix(['+', '-']).unwrap_or(text)),
        JsonType::Number => is_number(text),
        JsonType::Boolean => matches!(text, "true" | "false"),
        JsonType::Null => text == JsonType::Null.word(),
        JsonType::String | JsonType::Array | JsonType::Object => true,
    }
}

/// Whether a parameter that is not set is missing. An empty default is a default: absent and empty are different values.
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
        Some(ItemType::OneOf(types)) if !types.iter().any(|one| may_be(text, one)) => {
            problems.push(ProblemKind::NotOneOf { item: item.clone(), types });
        }
        _ => {}
    }
    if !announcement.choices.is_empty() && announcement.choices.iter().all(|choice| choice != text) {
        problems.push(ProblemKind::NotAChoice { item, choices: announcement.choices.clone() });
    }
    problems
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("the value"),
            Self::Index(index) => write!(f, "item {index}"),
            Self::Key(key) => write!(f, "the value of the key `{key}`"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter `{}`: {}", self.parameter, self.kind)
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("a value is required, and there is no default"),
            Self::WrongField { due, found } => {
                write!(f, "the plugin reads `{due}`, but only `{found}` is set")
            }
            Self::NotANumber(item) => write!(f, "{item} has to be a decimal number, such as `3` or `-1.5e3`"),
            Self::NotABoolean(item) => write!(f, "{item} has to be `true` or `false`"),
            Self::NotOneOf { item, types } => write!(f, "{item} has to be {}", types.words()),
            Self::NotAChoice { item, choices } => {
                write!(f, "{item} has to be one of ")?;
                for (index, choice) in choices.iter().enumerate() {
                    write!(f, "{}`{choice}`", if index > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
            Self::Unannounced { suggestions } => {
                f.write_str("the plugin does not announce it")?;
                for (index, suggestion) in suggestions.iter().enumerate() {
                    write!(f, "{}`{suggestion}`", if index > 0 { ", " } else { "; did you mean " })?;
                }
                f.write_str(if suggestions.is_empty() { "" } else { "?" })
            }
        }
    }
}

#[cfg(test)]
mod tests;
