//! Runs that nobody waits for: those that are being made ready, and those whose processes and folders are being ended.

use std::sync::{Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// Owns what is left to do after answers were given, so that nothing is detached: whoever owns the plugins waits for it with
/// [`Endings::drained`] before it ends. If it ends without waiting, the launchers clean up by themselves.
#[derive(Debug, Default)]
pub struct Endings {
    tasks: Mutex<JoinSet<()>>,
}

impl Endings {
    /// Takes over an ending, or a beginning that is ended if nobody wants it any more.
    pub(crate) fn add(&self, runtime: &Handle, ending: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // What has ended is forgotten here, so that the set does not grow with the number of runs.
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(ending, runtime);
    }

    /// Waits until everything that was added before has ended, and what came of it.
    pub async fn drained(&self) {
        loop {
            let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
            if tasks.is_empty() {
                return;
            }
            while tasks.join_next().await.is_some() {}
        }
    }
}
