//! The number of running calls.

use tokio::sync::watch;

/// A counter of running calls. Clones share the count.
#[derive(Clone, Debug)]
pub(crate) struct Running(watch::Sender<usize>);

impl Default for Running {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Running {
    /// Counts a call until the result is dropped.
    pub(super) fn begin(&self) -> RunningCall {
        self.0.send_modify(|count| *count += 1);
        RunningCall(self.0.clone())
    }

    /// Waits until no call is running.
    pub(crate) async fn wait_for_none(&self) {
        // `self` holds the sender, so the channel is open.
        drop(self.0.subscribe().wait_for(|count| *count == 0).await);
    }

    /// Waits until a call is running.
    pub(crate) async fn wait_for_some(&self) {
        drop(self.0.subscribe().wait_for(|count| *count > 0).await);
    }
}

/// A counted call.
#[derive(Debug)]
pub(super) struct RunningCall(watch::Sender<usize>);

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
