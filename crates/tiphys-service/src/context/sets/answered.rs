//! Questions that recorded answers answer, and entries that answer none.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};
use tiphys_engine::appset::Question;

use super::answers::{RecordedAnswers, contains};

/// Recorded answers, with what became of their entries.
#[derive(Default)]
pub(crate) struct AnsweredQuestions {
    answers: RecordedAnswers,
    /// The entries that fit a question: used, or those before it.
    entries: Mutex<BTreeMap<usize, Entry>>,
}

/// The use of an entry.
#[derive(Clone, Copy)]
enum Entry {
    Used,
    /// The entry with this index answered instead.
    Covered(usize),
}

impl AnsweredQuestions {
    /// Creates it. No question is answered yet.
    pub(crate) fn new(answers: RecordedAnswers) -> Self {
        Self { answers, entries: Mutex::default() }
    }

    /// Returns the answer to a question, if an entry fits.
    pub(crate) fn answer(&self, question: &Question) -> Option<Vec<Map<String, Value>>> {
        let mut fitting = self.answers.fitting(question);
        let (first, answer) = fitting.next()?;
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(first, Entry::Used);
        for (index, _) in fitting {
            entries.entry(index).or_insert(Entry::Covered(first));
        }
        Some(answer.parameters.clone())
    }

    /// Whether an entry fits a question.
    pub(crate) fn has(&self, question: &Question) -> bool {
        self.answers.fitting(question).next().is_some()
    }

    /// Returns what is wrong with entries that are not used. Those without a question are only known after all questions were asked.
    pub(crate) fn unused(&self, is_complete: bool) -> Vec<String> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let recorded = &self.answers.entries;
        let covering = |index: usize| {
            let (before, one) = (recorded.get(..index)?, recorded.get(index)?);
            before
                .iter()
                .position(|other| other.generator == one.generator && contains(&one.matched, &other.matched))
        };
        let problem = |index: usize| {
            let covered = covering(index).or(match entries.get(&index) {
                Some(Entry::Covered(by)) if is_complete => Some(*by),
                _ => None,
            });
            let reason = match (covered, entries.get(&index)) {
                (Some(by), _) => format!("answers[{by}] fits the same questions, and is before it"),
                (None, None) if is_complete => "no generator asks this question".to_owned(),
                _ => return None,
            };
            Some(format!("{}: answers[{index}] is not used: {reason}", self.answers.shown))
        };
        (0..recorded.len()).filter_map(problem).collect()
    }
}

#[cfg(test)]
mod tests;
