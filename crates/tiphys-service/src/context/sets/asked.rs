//! Questions that were asked once, with their answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tiphys_engine::appset::{Answer, Question};
use tokio::sync::OnceCell;

/// Questions by what determines their answers. Concurrent equal questions wait for the first one.
#[derive(Default)]
pub(crate) struct AskedOnce(Mutex<HashMap<String, Arc<Asked>>>);

struct Asked {
    question: Question,
    answer: OnceCell<Answer>,
}

impl AskedOnce {
    /// Returns the answer of the first equal question, else asks.
    pub(crate) async fn get(
        &self,
        key: String,
        question: &Question,
        ask: impl AsyncFnOnce() -> Answer,
    ) -> Answer {
        let new = || Arc::new(Asked { question: question.clone(), answer: OnceCell::new() });
        let asked = Arc::clone(self.lock().entry(key).or_insert_with(new));
        asked.answer.get_or_init(|| ask()).await.clone()
    }

    /// Returns the questions with their answers, without those that failed.
    pub(crate) fn answered(&self) -> Vec<(Question, Answer)> {
        let asked = self.lock();
        let answered =
            asked.values().filter_map(|asked| Some((asked.question.clone(), asked.answer.get()?.clone())));
        answered.filter(|(_, answer)| answer.is_ok()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Asked>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
