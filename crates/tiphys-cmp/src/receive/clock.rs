//! The deadline and cancellation of a call.

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::error::ReceiveError;

/// A call's deadline, and the token that cancels running calls at the shutdown of the server.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Time by which the call must be answered.
    pub(crate) deadline: Instant,
    /// Fires when running calls are cancelled.
    pub(crate) abort: CancellationToken,
}

impl Clock {
    /// Waits for a future until the call has to end. `step` is Argo CD's name of the step.
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
