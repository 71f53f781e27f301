//! Measures the steps of an upload.

use std::time::Duration;

use tokio::time::Instant;

use crate::metrics::UploadSteps;

/// The times of one upload.
#[derive(Debug, Default)]
pub(super) struct Times {
    first_byte: Option<Instant>,
    end: Option<Instant>,
    /// Start of unpacking.
    started_unpacking: Option<Instant>,
    waited: Duration,
    /// The part of `waited` between the first byte and the end.
    waited_while_receiving: Duration,
    unpacked: Option<Duration>,
}

impl Times {
    /// Records that bytes arrived.
    pub(super) fn bytes(&mut self) {
        self.first_byte.get_or_insert_with(Instant::now);
    }

    /// Records the end of the upload.
    pub(super) fn end(&mut self) {
        self.end = Some(Instant::now());
    }

    /// Records that it has waited for others since `since`.
    pub(super) fn waited(&mut self, since: Instant) {
        let waited = since.elapsed();
        self.waited += waited;
        if self.first_byte.is_some() && self.end.is_none() {
            self.waited_while_receiving += waited;
        }
    }

    /// Records the start of unpacking.
    pub(super) fn started_unpacking(&mut self) {
        self.started_unpacking = Some(Instant::now());
    }

    /// Records the end of unpacking. Unpacking while bytes still arrived did not delay the call.
    pub(super) fn unpacked(&mut self) {
        self.unpacked = self.end.max(self.started_unpacking).map(|began| began.elapsed());
    }

    /// Returns the durations of a successful upload.
    pub(super) fn steps(&self) -> UploadSteps {
        let received = self.first_byte.zip(self.end).map(|(first, end)| end - first);
        UploadSteps {
            waited: self.waited,
            received: received.unwrap_or_default().saturating_sub(self.waited_while_receiving),
            unpacked: self.unpacked,
        }
    }
}

#[cfg(test)]
mod tests;
