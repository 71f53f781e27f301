//! Validates entered values with the checks of `params set` and those of rows.

use std::collections::HashMap;

use tiphys_model::params::{Announcement, Item, ProblemKind, check_values};

use crate::entered::{Draft, Entered, parameter};

/// The problems of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Problems {
    /// Problems of the field as a whole, or of its only value.
    pub(crate) whole: Vec<String>,
    /// Problems of each row of a list or a map.
    pub(crate) rows: Vec<RowProblems>,
}

/// The problems of one row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowProblems {
    pub(crate) key: Vec<String>,
    pub(crate) value: Vec<String>,
}

/// Checks all fields, given by their name and entered value.
pub(crate) fn check(announcements: &[Announcement], drafts: &[(&str, &Draft)]) -> Vec<Problems> {
    let mut problems: Vec<Problems> = drafts.iter().map(|(_, draft)| Problems::of_rows(draft)).collect();
    let set = drafts.iter().filter_map(|(name, draft)| Some(parameter(name, draft.value()?)));
    let places: HashMap<&str, usize> =
        drafts.iter().enumerate().rev().map(|(place, (name, _))| (*name, place)).collect();
    for problem in check_values(announcements, &set.collect::<Vec<_>>()) {
        let free = announcements.is_empty() && matches!(problem.kind, ProblemKind::Unannounced { .. });
        if let Some(place) = places.get(problem.parameter.as_str()).filter(|_| !free) {
            problems[*place].add(&problem.kind, &drafts[*place].1.entered);
        }
    }
    problems
}

impl Problems {
    /// Whether there are no problems.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.rows.iter().all(|row| row.key.is_empty() && row.value.is_empty())
    }

    /// Removes all problems, but not the rows.
    pub(crate) fn forget(&mut self) {
        self.whole.clear();
        self.rows.fill_with(RowProblems::default);
    }

    /// Checks that the key of each row exists and is unique.
    fn of_rows(draft: &Draft) -> Self {
        let rows = match &draft.entered {
            Entered::Nothing | Entered::Text(_) => Vec::new(),
            Entered::List(list) => vec![RowProblems::default(); list.len()],
            Entered::Map(map) => {
                let mut counts: HashMap<&str, usize> = HashMap::new();
                for (key, _) in map {
                    *counts.entry(key).or_default() += 1;
                }
                let problem = |key: &str| match counts.get(key) {
                    _ if key.is_empty() => vec!["a key is required".to_owned()],
                    Some(2..) => vec!["the key is given twice".to_owned()],
                    _ => Vec::new(),
                };
                map.iter().map(|(key, _)| RowProblems { key: problem(key), value: Vec::new() }).collect()
            }
        };
        Self { whole: Vec::new(), rows }
    }

    fn add(&mut self, kind: &ProblemKind, entered: &Entered) {
        // An item's problem is shown at its row, so it needs no index.
        let (item, kind) = match kind {
            ProblemKind::NotANumber(item) => (item, ProblemKind::NotANumber(Item::Text)),
            ProblemKind::NotABoolean(item) => (item, ProblemKind::NotABoolean(Item::Text)),
            ProblemKind::NotAChoice { item, choices } => {
                (item, ProblemKind::NotAChoice { item: Item::Text, choices: choices.clone() })
            }
            other => return self.whole.push(other.to_string()),
        };
        let row = match (item, entered) {
            (Item::Index(row), _) => Some(*row),
            // The last of duplicate keys is used, and only it was checked.
            (Item::Key(wanted), Entered::Map(map)) => map.iter().rposition(|(key, _)| key == wanted),
            _ => None,
        };
        match row.and_then(|row| self.rows.get_mut(row)) {
            Some(row) => row.value.push(kind.to_string()),
            None => self.whole.push(kind.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
