//! Label selectors as in `kubectl -l`.

use std::collections::{BTreeMap, BTreeSet};

/// A label selector. All requirements must be met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

/// An invalid label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("selector {selector:?}: {problem}; the syntax is `a=b,c!=d,e in (f,g),h notin (i),j,!k`")]
pub struct SelectorError {
    /// The whole selector.
    pub selector: String,
    /// The problem.
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    condition: Condition,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Exists,
    Absent,
    In(BTreeSet<String>),
    /// Also met by objects without the label.
    NotIn(BTreeSet<String>),
}

impl Selector {
    /// Parses a selector. An empty one selects everything.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let requirements: Result<_, String> = requirements(text).into_iter().map(requirement).collect();
        match requirements {
            Ok(requirements) => Ok(Self { requirements }),
            Err(problem) => Err(SelectorError { selector: text.to_owned(), problem }),
        }
    }

    /// Returns whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key);
            match &requirement.condition {
                Condition::Exists => value.is_some(),
                Condition::Absent => value.is_none(),
                Condition::In(values) => value.is_some_and(|value| values.contains(value)),
                Condition::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            }
        })
    }
}

/// Splits at commas outside of parentheses.
fn requirements(text: &str) -> Vec<&str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (index, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(text: &str) -> Result<Requirement, String> {
    let text = text.trim();
    if let Some(key) = text.strip_prefix('!') {
        return Ok(Requirement { key: label_key(key)?, condition: Condition::Absent });
    }
    for (operator, negated) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = text.split_once(operator) {
            let values = BTreeSet::from([label_value(value)?]);
            let condition = if negated { Condition::NotIn(values) } else { Condition::In(values) };
            return Ok(Requirement { key: label_key(key)?, condition });
        }
    }
    if let Some(list) = text.strip_suffix(')') {
        let (head, values) =
            list.split_once('(').ok_or_else(|| format!("{text:?} has no opening parenthesis"))?;
        let values: BTreeSet<String> = values.split(',').map(label_value).collect::<Result<_, _>>()?;
        let mut words = head.split_whitespace();
        return match (words.next(), words.next(), words.next()) {
            (Some(key), Some("in"), None) => {
                Ok(Requirement { key: label_key(key)?, condition: Condition::In(values) })
            }
            (Some(key), Some("notin"), None) => {
                Ok(Requirement { key: label_key(key)?, condition: Condition::NotIn(values) })
            }
            _ => Err(format!("{text:?} has neither `in` nor `notin` before its values")),
        };
    }
    Ok(Requirement { key: label_key(text)?, condition: Condition::Exists })
}

/// Parses a label key.
fn label_key(text: &str) -> Result<String, String> {
    let key = label_value(text)?;
    if key.is_empty() { Err("a label's key is missing".to_owned()) } else { Ok(key) }
}

/// Parses a label value, which may be empty.
fn label_value(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if text.chars().all(is_valid) { Ok(text.to_owned()) } else { Err(format!("{text:?} is not a label")) }
}

#[cfg(test)]
mod tests;
