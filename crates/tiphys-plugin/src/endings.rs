//! Background tasks of runs: starts whose caller is gone, and the end of processes and directories.

use std::sync::{Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// Owns the tasks that continue after an answer, so that none is detached. The owner of the plugins awaits them by [`Endings::drained`]
/// before it exits. Otherwise the launchers clean up.
#[derive(Debug, Default)]
pub struct Endings {
    tasks: Mutex<JoinSet<()>>,
}

impl Endings {
    /// Spawns a task.
    pub(crate) fn add(&self, runtime: &Handle, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // Removes finished tasks, so that the set does not grow with the number of runs.
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(task, runtime);
    }

    /// Waits for all tasks, including those that they add.
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
