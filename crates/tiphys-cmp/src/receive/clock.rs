//! What ends a call from outside while it waits.

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::ReceiveError;

/// A call's deadline, and the token that fires when the server can wait no longer for running calls.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// When the answer must be there.
    pub(crate) deadline: Instant,
    /// Fires when running calls are to end.
    pub(crate) abort: CancellationToken,
}

impl Clock {
    /// Waits for something, or until the call has to end. `step` is Argo CD's word for what is being done.
    pub(super) async fn within<T>(
        &self,
        step: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, ReceiveError> {
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.abort.cancelled() => Err(ReceiveError::ending()),
            () = sleep_until(self.deadline) => Err(ReceiveError::late(step)),
        }
    }
}
