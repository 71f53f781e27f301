//! Turns: a limited number of reconciles work at the same time. Those that only wait for an answer of a service are not counted.

use std::sync::Arc;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The turns of a controller.
#[derive(Debug)]
pub(crate) struct Turns(Arc<Semaphore>);

/// One turn. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    pub(crate) fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Takes a turn that is free.
    pub(crate) fn take(&self) -> Option<Turn> {
        let permit = Arc::clone(&self.0).try_acquire_owned().ok()?;
        Some(Turn { turns: Arc::clone(&self.0), permit: Some(permit) })
    }
}

impl Turn {
    /// Gives the turn up until `waiting` ends, and waits for the next one. `is_free` is notified.
    pub(crate) async fn give_up_for<T>(&mut self, waiting: impl Future<Output = T>, is_free: &Notify) -> T {
        self.permit = None;
        is_free.notify_one();
        let result = waiting.await;
        // The semaphore is never closed.
        self.permit = Arc::clone(&self.turns).acquire_owned().await.ok();
        result
    }
}
