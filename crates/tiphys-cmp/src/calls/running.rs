//! How many calls are running.

use tokio::sync::watch;

/// Counts running calls. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Running(watch::Sender<usize>);

impl Default for Running {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Running {
    /// One more, until what is returned is dropped.
    pub(super) fn begin(&self) -> RunningCall {
        self.0.send_modify(|count| *count += 1);
        RunningCall(self.0.clone())
    }

    /// Waits until no call is running.
    pub(crate) async fn ended(&self) {
        // The sender is here, so the channel is open.
        drop(self.0.subscribe().wait_for(|count| *count == 0).await);
    }

    /// Waits until a call is running.
    pub(crate) async fn begun(&self) {
        drop(self.0.subscribe().wait_for(|count| *count > 0).await);
    }
}

/// A call that is running.
#[derive(Debug)]
pub(super) struct RunningCall(watch::Sender<usize>);

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
